import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
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
  evictedLeavesOf,
  makeTemporaryDirectory,
  type NaiveHistory,
  type NaiveLog,
  naiveIndex,
  naiveManifest,
  readHistory,
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

  /** The log with its archives. */
  history(): NaiveHistory {
    return readHistory(readFileSync(join(this.directory, 'events.jsonl')), (name) => {
      const path = join(this.directory, name);
      return existsSync(path) ? readFileSync(path) : null;
    });
  }

  /** Whether a rewrite was under way: its marker, or a file that has no name yet. */
  hasTraces(): boolean {
    return ['.', 'index', 'archive'].some((name) => {
      const path = join(this.directory, name);
      return existsSync(path) && readdirSync(path).some((entry) => /^\.t-|pending/.test(entry));
    });
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
    const history = this.history();
    const { log } = history;
    expect(history.problems).toEqual([]);
    const seqs = log.records.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].sort((left, right) => left - right));
    const manifest = readFileSync(join(this.directory, 'manifest.json'), 'utf8');
    const { turnlog } = JSON.parse(manifest) as { turnlog: { generation: string } };
    expect(JSON.parse(manifest)).toEqual(
      JSON.parse(naiveManifest(log, 's-1', turnlog.generation, undefined, evictedLeavesOf(history))),
    );
    const turns = readFileSync(join(this.directory, 'index', 'turns.jsonl'), 'utf8');
    expect(turns).toBe(naiveIndex(log, 's-1', turnlog.generation));
    const left = ['.', 'index', 'archive']
      .map((name) => join(this.directory, name))
      .flatMap((path) => (existsSync(path) ? readdirSync(path) : []));
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
