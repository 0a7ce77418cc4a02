import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LogReader } from '@turnlog/log';
import { openStore, type Store } from '@turnlog/store';
import { createTestMachine, FakeClock, ModelFileSystem } from '@turnlog/testkit';

/** A store on a machine in memory, with logs put into it as bytes. */
export class LogPlace {
  readonly store: Store;
  readonly #disk: ModelFileSystem;

  private constructor(store: Store, disk: ModelFileSystem) {
    this.store = store;
    this.#disk = disk;
  }

  static async make(): Promise<LogPlace> {
    const clock = new FakeClock();
    const disk = new ModelFileSystem({ clock });
    disk.plantDirectory('/store');
    const environment = createTestMachine({ fs: disk, clock });
    return new LogPlace(await openStore({ root: '/store', environment, cwd: '/', env: {} }), disk);
  }

  plant(session: string, bytes: Uint8Array | string): void {
    this.#disk.plantFile(`/store/sessions/${session}/events.jsonl`, Buffer.from(bytes));
  }

  reading<Result>(session: string, work: (reader: LogReader) => Result): Result {
    const reader = this.store.read(session, { unreadable: 'show' });
    try {
      return work(reader);
    } finally {
      reader.close();
    }
  }
}

/** What `work` makes of a log. */
export async function withLog<Result>(
  log: Uint8Array | string,
  work: (reader: LogReader) => Result,
): Promise<Result> {
  const place = await LogPlace.make();
  place.plant('case', log);
  return place.reading('case', work);
}

/** One second per seq. */
export function timeOf(seq: number): string {
  return new Date(Date.UTC(2026, 0, 5, 10, 0, seq)).toISOString();
}

/** A line of a log, with its 0x0A. */
export function line(seq: number, event: object, ts: unknown = timeOf(seq)): string {
  return `${JSON.stringify({ schema_version: '0.18.0', seq, ts, event })}\n`;
}

export function logOf(events: readonly object[]): string {
  return events.map((event, index) => line(index + 1, event)).join('');
}

/** Lines of a frame around members, from `seq` on; its commit does not fit when `digest` says so. */
export function frameOf(seq: number, members: readonly object[], digest?: string): string {
  const lines = members.map((event, index) => line(seq + 1 + index, event));
  const leaves = lines.map((text) =>
    createHash('sha256')
      .update(`\0${text.slice(0, -1)}`)
      .digest(),
  );
  const sha256 = digest ?? createHash('sha256').update(Buffer.concat(leaves)).digest('hex');
  const begin = line(seq, { type: 'journal.begin', frame: 'f', fence: null, kind: 'append' });
  const commit = { type: 'journal.commit', frame: 'f', count: members.length, sha256 };
  return begin + lines.join('') + line(seq + 1 + members.length, commit);
}

export const item = (event: string, value: object): object => ({ type: `item.${event}`, item: value });

const shared = resolve(__dirname, '../../../../shared');
const folders = { case: 'cases', wire: 'fixtures/wire', spec: 'spec' } as const;

/** A file that comes with the specifications; null where they are not at hand. */
export function sharedBytes(kind: keyof typeof folders, name: string): Buffer | null {
  const path = join(shared, folders[kind], name);
  return existsSync(path) ? readFileSync(path) : null;
}
