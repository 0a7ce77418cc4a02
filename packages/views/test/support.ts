import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTimeZone, type TimeZone } from '@turnlog/kernel';
import type { EventInput, LogReader } from '@turnlog/log';
import { openStore, type Store } from '@turnlog/store';
import { createTestMachine, FakeClock, FaultFileSystem, ModelFileSystem } from '@turnlog/testkit';

export const zone = (name: string): TimeZone => parseTimeZone(name, 'flag');
export const utc: TimeZone = zone('UTC');

/** A store on a machine in memory. */
export class TestStore {
  readonly clock: FakeClock = new FakeClock();
  readonly disk: ModelFileSystem = new ModelFileSystem({ clock: this.clock });
  readonly fs: FaultFileSystem = new FaultFileSystem(this.disk);
  readonly store: Store;

  private constructor(store: Store, parts: Pick<TestStore, 'clock' | 'disk' | 'fs'>) {
    this.store = store;
    this.clock = parts.clock;
    this.disk = parts.disk;
    this.fs = parts.fs;
  }

  static async make(disk?: ModelFileSystem): Promise<TestStore> {
    const clock = new FakeClock();
    const present = disk ?? new ModelFileSystem({ clock });
    const fs = new FaultFileSystem(present);
    if (present.status('/store') === null) present.plantDirectory('/store');
    const store = await openStore({
      root: '/store',
      environment: createTestMachine({ fs, clock }),
      cwd: '/',
      env: {},
    });
    return new TestStore(store, { clock, disk: present, fs });
  }

  path(session: string, name: string): string {
    return `/store/sessions/${session}/${name}`;
  }

  /** Puts a session there that holds just these bytes and nothing derived. */
  plant(session: string, bytes: Uint8Array | string): void {
    this.disk.plantFile(this.path(session, 'events.jsonl'), Buffer.from(bytes));
  }

  /** Appends in a writer of its own and closes it. */
  async write(session: string, events: readonly object[]): Promise<void> {
    const log = await this.store.open(session);
    for (const event of events) {
      log.append(event as EventInput);
      this.clock.advance(1_000);
    }
    await log.close();
  }

  text(session: string, name: string): string {
    return Buffer.from(this.disk.contentOf(this.path(session, name))).toString();
  }

  json(session: string, view: string): Record<string, unknown> {
    return JSON.parse(this.text(session, `derived/${view}.json`)) as Record<string, unknown>;
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

/** A line of a log, with its 0x0A. */
export function line(seq: number, event: object, ts: unknown = timeOf(seq)): string {
  return `${JSON.stringify({ schema_version: '0.18.0', seq, ts, event })}\n`;
}

/** What the commit of a frame says of the lines between its begin and itself, written out once more. */
export function digestOfLines(lines: readonly string[]): string {
  const digest = createHash('sha256');
  for (const text of lines)
    digest.update(
      createHash('sha256')
        .update(`\0${text.slice(0, -1)}`)
        .digest(),
    );
  return digest.digest('hex');
}

/** One second per seq. */
export function timeOf(seq: number): string {
  return new Date(Date.UTC(2026, 0, 5, 10, 0, seq)).toISOString();
}

export function logOf(events: readonly object[]): string {
  return events.map((event, index) => line(index + 1, event)).join('');
}

export const turnStarted = { type: 'turn.started' };

export function usage(input: number, output: number, cached = 0, creation = 0): object {
  return {
    input_tokens: input,
    cached_input_tokens: cached,
    cache_creation_tokens: creation,
    output_tokens: output,
  };
}

export function turnCompleted(input: number, output: number): object {
  return { type: 'turn.completed', usage: usage(input, output) };
}

export function answer(id: string, input: number, output: number, more: object = {}): object {
  return {
    type: 'run.answer',
    answer_id: id,
    model: 'm-1',
    usage: usage(input, output),
    raw: {},
    reliable: true,
    ...more,
  };
}

export interface KnownLog {
  readonly name: string;
  readonly bytes: Buffer;
}

const repository = join(__dirname, '../../..');
const shared = join(repository, '../shared');

/** The logs that come with the project, and those of the failure log and the corpus where they are there. */
export function knownLogs(): readonly KnownLog[] {
  const wire = join(repository, 'test/golden/wire');
  const logs = ['golden.jsonl', 'odd.jsonl'].map((name) => ({ name, bytes: readFileSync(join(wire, name)) }));
  return [...logs, ...caseLogs(), ...corpusLogs()];
}

function caseLogs(): readonly KnownLog[] {
  const cases = join(shared, 'cases');
  const sums = join(cases, 'SHA256SUMS');
  if (!existsSync(sums)) return [];
  const digests = readFileSync(sums, 'utf8');
  const names = readdirSync(cases).flatMap((folder) =>
    /^B\d+-/.test(folder)
      ? readdirSync(join(cases, folder))
          .filter((name) => /^events.*\.jsonl$|^import\.jsonl$|^part.*\.bin$/.test(name))
          .map((name) => `${folder}/${name}`)
      : [],
  );
  return names.map((name) => {
    const bytes = readFileSync(join(cases, name));
    expect(digests).toContain(createHash('sha256').update(bytes).digest('hex'));
    return { name, bytes };
  });
}

function corpusLogs(): readonly KnownLog[] {
  const folder = join(shared, 'corpus/vtcode');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
}

/** The bytes of a case; null in a checkout without the failure log. */
export function caseLog(name: string): Buffer | null {
  return knownLogs().find((log) => log.name === name)?.bytes ?? null;
}
