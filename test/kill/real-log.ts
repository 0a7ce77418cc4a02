import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  createHost,
  createNodeFileSystem,
  createRandomIds,
  createSystemClock,
  createWriterLocks,
} from '@turnlog/fs';
import { openOwnedLog } from '@turnlog/log';
import {
  makeTemporaryDirectory,
  type NaiveLog,
  naiveIndex,
  naiveManifest,
  readNaively,
} from '@turnlog/testkit';

/** A log directory on the real file system, looked at by this process while others write to it. */
export class RealLog {
  readonly directory: string;
  readonly #remove: () => void;

  constructor() {
    const { path, remove } = makeTemporaryDirectory();
    this.directory = join(path, 's-1');
    this.#remove = remove;
  }

  read(): NaiveLog {
    return readNaively(readFileSync(join(this.directory, 'events.jsonl')));
  }

  names(): readonly string[] {
    return this.read().records.map(({ event }) => String(event['name'] ?? event['reason'] ?? event['type']));
  }

  machine(): Parameters<typeof openOwnedLog>[0] {
    const fs = createNodeFileSystem();
    const ids = createRandomIds();
    const clock = createSystemClock();
    const host = createHost();
    const locks = createWriterLocks({ fs, ids, clock, host, program: 'turnlog/test' });
    return { fs, ids, clock, host, locks, ownership: { uid: host.uid, onModeWarning: () => undefined } };
  }

  /** Opens and closes the log, then compares everything derived with the naive reading: I2 to I6, I8. */
  async check(): Promise<void> {
    await (await openOwnedLog(this.machine(), this.directory, 's-1')).close();
    const log = this.read();
    const seqs = log.records.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].sort((left, right) => left - right));
    const manifest = readFileSync(join(this.directory, 'manifest.json'), 'utf8');
    const { turnlog } = JSON.parse(manifest) as { turnlog: { generation: string } };
    expect(JSON.parse(manifest)).toEqual(JSON.parse(naiveManifest(log, 's-1', turnlog.generation)));
    const turns = readFileSync(join(this.directory, 'index', 'turns.jsonl'), 'utf8');
    expect(turns).toBe(naiveIndex(log, 's-1', turnlog.generation));
    const left = [...readdirSync(this.directory), ...readdirSync(join(this.directory, 'index'))];
    // Claims of broken locks stay for an hour, for those who are late; an intent whose process was killed before it
    // wrote its name says nothing of whom it is and stays for the stale time.
    const isUnwrittenIntent = (name: string): boolean =>
      name.startsWith('session.owner.') &&
      name !== 'session.owner.json' &&
      statSync(join(this.directory, name)).size === 0;
    const unexpected = left.filter((name) => /^\.t-|^session\.(lock$|owner)|pending/.test(name));
    expect(unexpected.filter((name) => !isUnwrittenIntent(name))).toEqual([]);
  }

  remove(): void {
    this.#remove();
  }
}
