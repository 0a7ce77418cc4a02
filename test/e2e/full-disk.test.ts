import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTurnlogError } from '@turnlog/kernel';
import { openStore, type Session, type Store } from '@turnlog/store';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import { tellFigure } from '../figures.js';
import { type Ended, runHere } from '../run-here.js';

/*
 * A disk of three MiB that is really full. What the modelled disk says of one is asked of the operating system here:
 * where it cuts a write, what it answers, and what is there when somebody has made room.
 */

const mebibyte = 1_048_576;

class SmallDisk {
  readonly path: string;
  readonly #directory: TemporaryDirectory;

  private constructor(directory: TemporaryDirectory) {
    this.#directory = directory;
    this.path = join(directory.path, 'disk');
  }

  /** Null where this process may not mount. */
  static mount(): SmallDisk | null {
    const disk = new SmallDisk(makeTemporaryDirectory());
    mkdirSync(disk.path, { mode: 0o700 });
    const given = ['-t', 'tmpfs', '-o', 'size=3m,mode=0700', 'tmpfs', disk.path];
    if (spawnSync('mount', given).status === 0) return disk;
    disk.#directory.remove();
    return null;
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  /** Leaves about so many bytes, and gives back how to make room again. */
  fillUpTo(leftBytes: number): () => void {
    const ballast = join(this.path, 'ballast');
    writeFileSync(ballast, Buffer.alloc(Math.max(0, this.freeBytes - leftBytes)));
    return () => rmSync(ballast);
  }

  unmount(): void {
    spawnSync('umount', [this.path]);
    this.#directory.remove();
  }
}

const text = 'x'.repeat(2_000);
const kilobytes = 1_024;

function note(n: number): { raw: string } {
  return { raw: JSON.stringify({ type: 'x.test.note', n, text }) };
}

/** Appends until the disk is full and a little longer; gives the numbers that were acknowledged. */
function appendUntilFull(
  session: Session,
  from: number,
): { acknowledged: readonly number[]; errnos: Set<unknown> } {
  const acknowledged: number[] = [];
  const errnos = new Set<unknown>();
  for (let n = from, refused = 0; refused < 20; n += 1) {
    try {
      session.append(note(n));
      acknowledged.push(n);
    } catch (error) {
      if (!isTurnlogError(error)) throw error;
      errnos.add(error.details['errno'] ?? error.code);
      refused += 1;
    }
    if (n > 5_000) throw new Error('this disk is never full');
  }
  return { acknowledged, errnos };
}

/** Numbers of the notes, and the reasons of reports, in order. */
function contentOf(store: Store, id: string): readonly unknown[] {
  const reader = store.read(id);
  try {
    expect(reader.damage()).toEqual([]);
    return [...reader.records()].map((record) => {
      const event: Readonly<Record<string, unknown>> = { ...record.readEvent() };
      return event['n'] ?? event['reason'] ?? event['type'];
    });
  } finally {
    reader.close();
  }
}

function leftOvers(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.t-|\.import-|session\.lock|session\.owner|pending/.test(name),
  );
}

const disk = SmallDisk.mount();

if (disk === null) {
  test('a disk that is really full needs a mount, which this process may not make', () => {
    process.stderr.write('full-disk: nothing can be mounted here; the tests on a full disk did not run\n');
    expect(process.getuid?.() === 0 && process.platform === 'linux' && canMount()).toBe(false);
  });
} else {
  afterAll(() => disk.unmount());

  test('a disk that is really full: acknowledged records are there, failures are typed, and work goes on with room', async () => {
    const root = join(disk.path, 'store');
    const store = await openStore({ root, cwd: '/', env: {} });
    const session = await store.open('s-1', { durability: 'event' });
    session.append(note(0));
    const makeRoom = disk.fillUpTo(300 * kilobytes);
    const { acknowledged, errnos } = appendUntilFull(session, 1);
    expect([...errnos]).toEqual(['ENOSPC']);
    expect(acknowledged.length).toBeGreaterThan(50);
    expect(contentOf(store, 's-1')).toEqual([0, ...acknowledged]);
    makeRoom();
    session.append(note(6_000));
    await session.close();
    // What was refused is reported in front of the next record, once.
    expect(contentOf(store, 's-1')).toEqual([0, ...acknowledged, 'gap', 6_000]);
    expect(leftOvers(root)).toEqual([]);
    tellFigure(
      'full disk',
      `${acknowledged.length + 2} acknowledged records of ${acknowledged.length + 22} tried, all there`,
    );
  });

  const command = (argv: readonly string[], input = ''): Promise<Ended> =>
    runHere(argv, { input, cwd: disk.path, env: { HOME: disk.path, TURNLOG_ROOT: join(disk.path, 'cli') } });

  const turns = (count: number): string =>
    Array.from({ length: count }, (_, n) => [
      '{"event":{"type":"turn.started"}}',
      `{"event":${note(n).raw}}`,
      '{"event":{"type":"turn.completed","usage":{}}}',
    ])
      .flat()
      .join('\n')
      .concat('\n');

  const rollout = (): string =>
    Array.from({ length: 150 }, (_, n) =>
      JSON.stringify(
        n === 0
          ? { type: 'thread.started', thread_id: '33333333-3333-4333-8333-333333333333' }
          : {
              type: 'item.completed',
              item: { id: `i${n}`, type: 'agent_message', text: `${n} ${Math.sin(n)} ${text}` },
            },
      ),
    )
      .join('\n')
      .concat('\n');

  test('every command on a full disk: its exit says so, nothing is half made, and the same succeeds with room', async () => {
    const source = join(disk.path, 'run.jsonl');
    writeFileSync(source, rollout());
    for (const id of ['a', 'b']) expect(await command(['record', id], turns(40))).toMatchObject({ exit: 0 });
    expect(await command(['rebuild', 'a'])).toMatchObject({ exit: 0 });
    expect(await command(['config', 'set', 'color', 'never'])).toMatchObject({ exit: 0 });
    const events = join(disk.path, 'cli', 'sessions', 'a', 'events.jsonl');
    const settings = join(disk.path, '.config', 'turnlog', 'config.json');
    const before = [readFileSync(events), readFileSync(settings)];
    const lines: readonly (readonly [argv: readonly string[], input: string])[] = [
      [['record', 'c'], turns(200)],
      [['import', source], ''],
      [['export', 'a', '--format', 'html', '--out', join(disk.path, 'a.html')], ''],
      [['config', 'set', 'tz', 'Europe/Berlin'], ''],
      [['session', 'pin', 'b', '--reason', 'r'.repeat(200)], ''],
    ];
    // The last block of a file may still have room for a few bytes; none has room for these.
    const makeRoom = disk.fillUpTo(0);
    const full: Ended[] = [];
    for (const [argv, input] of lines) full.push(await command(argv, input));
    expect(full.map(({ argv, exit, said }) => ({ argv, isIo: exit === 7 || exit === 1, said }))).toEqual(
      full.map(({ argv }) => ({ argv, isIo: true, said: expect.stringMatching(/ENOSPC/) })),
    );
    // Reading needs no room.
    for (const argv of [['sessions'], ['show', 'a'], ['tail', 'a'], ['stats'], ['gc']]) {
      expect(await command(argv)).toMatchObject({ argv, exit: 0 });
    }
    expect([readFileSync(events), readFileSync(settings)]).toEqual(before);
    makeRoom();
    for (const [argv, input] of lines) {
      expect(await command([...argv, ...(argv[0] === 'export' ? ['--force'] : [])], input)).toMatchObject({
        exit: 0,
      });
    }
    expect(readFileSync(events).equals(before[0] ?? Buffer.alloc(0))).toBe(true);
    expect(await command(['doctor', '--deep'])).toMatchObject({ exit: 0 });
    expect(await command(['rebuild', '--check'])).toMatchObject({ exit: 0 });
    expect(leftOvers(join(disk.path, 'cli'))).toEqual([]);
  });

  test('a log at its cap on a full disk: the records are taken as long as there is room, and it is cut when there is', async () => {
    rmSync(join(disk.path, 'cli'), { recursive: true });
    const cap = { maxEvents: 60, keepTurns: 1 };
    const store = await openStore({ root: join(disk.path, 'capped'), cwd: '/', env: {} });
    const session = await store.open('s-1', { durability: 'event', cap });
    const makeRoom = disk.fillUpTo(40 * kilobytes);
    let refused = 0;
    for (let n = 0; n < 200; n += 1) {
      try {
        session.append({ type: 'turn.started' });
        session.append(note(n));
        session.append({ raw: '{"type":"turn.completed","usage":{}}' });
      } catch (error) {
        expect(error).toMatchObject({ code: 'TURNLOG_IO', details: { errno: 'ENOSPC' } });
        refused += 1;
      }
      await session.maintain();
    }
    expect(refused).toBeGreaterThan(0);
    const kept = session.lastSeq;
    makeRoom();
    session.append(note(6_000));
    await session.maintain();
    await session.close();
    const reader = store.read('s-1');
    const seqs = [...reader.history()].map(({ seq }) => seq);
    expect([...reader.recordsBefore(reader.length)].length).toBeLessThan(80);
    reader.close();
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => index + 1));
    expect(seqs.length).toBeGreaterThan(kept);
    expect(leftOvers(join(disk.path, 'capped'))).toEqual([]);
    expect(disk.freeBytes).toBeGreaterThan(mebibyte);
  });
}

/** Whether a mount succeeds by now: then it was not the rights that were missing. */
function canMount(): boolean {
  const again = SmallDisk.mount();
  again?.unmount();
  return again !== null;
}
