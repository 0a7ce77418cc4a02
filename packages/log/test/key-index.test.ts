import { sha256Hex } from '@turnlog/kernel';
import {
  copyDisk,
  createSeededIds,
  enumerateDisks,
  FaultFileSystem,
  ModelFileSystem,
  SeededRandom,
} from '@turnlog/testkit';
import { KeyIndex, type UsedKey } from '../src/idempotency.js';

const path = '/log/index/keys.jsonl';
const generation = '0123456789abcdef0123456789abcdef';
const runName = /^keys-\d+-\d+\.run$/;

/** Handles differ in the names of their temp files. */
let handleCount = 0;

/** A log of keyed records as far as the key index knows it; record n ends at byte 100 n. */
class KeyedLog {
  readonly fs: ModelFileSystem;
  readonly keys: string[] = [];
  scanCount = 0;
  generation = generation;

  constructor(fs = new ModelFileSystem()) {
    this.fs = fs;
    if (fs.status('/log') === null) {
      fs.plantDirectory('/log');
      fs.plantDirectory('/log/index');
    }
  }

  used(seq: number): UsedKey {
    const key = this.keys[seq - 1] ?? '';
    return { key, seq, eventSha256: sha256Hex(Buffer.from(key)), end: seq * 100 };
  }

  all(): UsedKey[] {
    return this.keys.map((_, index) => this.used(index + 1));
  }

  /** A handle of its own on the first `publishedCount` keys. */
  open(
    publishedCount: number | null = this.keys.length,
    on: FaultFileSystem | ModelFileSystem = this.fs,
  ): KeyIndex {
    const { generation } = this;
    handleCount += 1;
    const index = new KeyIndex({
      fs: on,
      ids: createSeededIds(handleCount),
      path,
      sessionId: 's-1',
      generation,
      publishedCount,
      runLinesMin: 4,
      scanKeys: () => {
        this.scanCount += 1;
        return this.all();
      },
    });
    for (const used of publishedCount === null ? this.all() : this.all().slice(publishedCount))
      index.noteScanned(used);
    return index;
  }

  /** What a handle does that lives for a few appends. */
  append(keys: readonly string[], index = this.open()): void {
    try {
      for (const key of keys) {
        if (index.find(key) !== null) throw new Error(`${key} was there`);
        this.keys.push(key);
        index.add(this.used(this.keys.length));
      }
      index.publish(this.keys.length * 100);
    } finally {
      index.close();
    }
  }

  find(key: string, publishedCount?: number | null): number | null {
    const index = this.open(publishedCount);
    try {
      return index.find(key)?.seq ?? null;
    } finally {
      index.close();
    }
  }

  runs(): string[] {
    return this.fs
      .list('/log/index')
      .map(({ name }) => name)
      .filter((name) => runName.test(name))
      .toSorted();
  }

  /** Every key is found where it was used first, by a handle of its own, and no other is. */
  check(): void {
    for (const [index, key] of this.keys.entries()) expect([key, this.find(key)]).toEqual([key, index + 1]);
    for (const key of ['', 'never', `${this.keys[0]}x`]) expect([key, this.find(key)]).toEqual([key, null]);
  }
}

function named(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `key-${from + index}`);
}

function withKeys(count: number, each = 1): KeyedLog {
  const log = new KeyedLog();
  for (let from = 0; from < count; from += each) log.append(named(from, Math.min(count, from + each)));
  return log;
}

test('short-lived handles make runs, each at least twice as long as the next, and find every key in them', () => {
  const log = withKeys(150);
  log.check();
  expect(log.scanCount).toBe(0);
  const lengths = log.runs().map((name) => {
    const [from, to] = name.slice(5, -4).split('-').map(Number);
    return [from ?? 0, to ?? 0] as const;
  });
  const ordered = lengths.toSorted(([left], [right]) => left - right);
  expect(ordered[0]?.[0]).toBe(0);
  for (const [index, [from, to]] of ordered.entries()) {
    const next = ordered[index + 1];
    if (next === undefined) continue;
    expect(next[0]).toBe(to);
    expect(to - from).toBeGreaterThanOrEqual(2 * (next[1] - next[0]));
  }
  expect(ordered.length).toBeLessThan(7);
});

test('any keys, in batches of any length, by handles that live short or long', () => {
  const random = new SeededRandom(20_261_130);
  for (let round = 0; round < 20; round += 1) {
    const log = new KeyedLog();
    while (log.keys.length < 120) {
      const texts = Array.from(
        { length: 1 + random.below(12) },
        () => `${random.below(1e9)}-"\\\u00e9\u{1f680}`,
      );
      log.append(texts.filter((text) => !log.keys.includes(text)));
    }
    log.check();
    const whole = log.open();
    expect([...whole.all()].map(({ seq }) => seq)).toEqual(log.all().map(({ seq }) => seq));
    whole.close();
  }
});

test('a key that was used twice in the log is the first one’s, from run, tail and memory', () => {
  const log = new KeyedLog();
  const twice = (at: number): void => {
    log.keys.push('twice');
    const index = log.open(at);
    index.publish(log.keys.length * 100);
    index.close();
  };
  log.append(['twice', 'b', 'c', 'd']);
  for (let more = 4; more < 14; more += 1) {
    twice(more);
    expect(log.find('twice')).toBe(1);
  }
  expect(log.runs().length).toBeGreaterThan(0);
});

test('what a find reads of the file does not grow with it', () => {
  const readBy = (count: number): number => {
    const log = withKeys(count, 64);
    const fs = new FaultFileSystem(log.fs);
    const index = log.open(count, fs);
    expect(index.find('never')).toBeNull();
    expect(index.find('key-7')?.seq).toBe(8);
    index.close();
    return fs.journal
      .filter(({ verb }) => verb === 'read')
      .reduce((sum, { byteCount }) => sum + byteCount, 0);
  };
  expect(readBy(8_192 + 32)).toBeLessThan(2 * readBy(1_024 + 32));
});

describe('damage', () => {
  const original = withKeys(30);
  const runs = original.runs();

  test.each(runs)('%s with any byte changed, or cut anywhere, changes no answer', (name) => {
    const bytes = Buffer.from(original.fs.contentOf(`/log/index/${name}`));
    const damaged = [
      ...Array.from(bytes, (_, at) =>
        Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 0x10 : byte))),
      ),
      ...Array.from(bytes, (_, length) => bytes.subarray(0, length)),
    ];
    for (const [index, content] of damaged.entries()) {
      if (index % 3 !== 0) continue;
      const log = withKeys(30);
      log.fs.plantFile(`/log/index/${name}`, content);
      for (const key of ['key-0', 'key-13', 'key-29']) expect(log.find(key)).toBe(Number(key.slice(4)) + 1);
      expect(log.find('never')).toBeNull();
      log.append(['after', 'that']);
      expect(log.find('key-2')).toBe(3);
      expect(log.find('that')).toBe(32);
    }
  });

  test('runs are made anew after they were lost', () => {
    const log = withKeys(30);
    for (const name of log.runs()) log.fs.removeFile(`/log/index/${name}`);
    log.append(['more']);
    expect(log.runs()).toEqual(['keys-0-30.run']);
    log.check();
  });

  test('runs of another generation say nothing and go', () => {
    const log = withKeys(30);
    log.generation = 'f'.repeat(32);
    log.keys.splice(0, 10);
    expect(log.find('key-3', null)).toBeNull();
    log.append(['new'], log.open(null));
    expect(log.runs()).toEqual([]);
    log.check();
  });
});

test('a run of keys that a crash took back is gone before other keys take their place', () => {
  const log = withKeys(13);
  expect(log.runs()).toEqual(['keys-0-8.run', 'keys-8-12.run']);
  // The records behind the sixth were lost, and the manifest is older than they were.
  log.keys.splice(6);
  expect(log.find('key-9')).toBeNull();
  log.append(['other']);
  expect(log.runs()).toEqual(['keys-0-6.run']);
  log.append(named(7, 20));
  log.check();
});

test('a power cut brings no such run back beside the keys that took their place', () => {
  const before = withKeys(13);
  let besideCount = 0;
  for (let call = 0, isDone = false; !isDone; call += 1) {
    const log = new KeyedLog(copyDisk(before.fs));
    log.keys.push(...named(0, 6));
    log.fs.crashAt(call);
    try {
      log.append(['other']);
    } catch (error) {
      if (!log.fs.isDown) throw error;
    }
    isDone = !log.fs.isDown;
    for (const disk of enumerateDisks(log.fs, call)) {
      if (!Buffer.from(disk.contentOf(path)).includes('"other"')) continue;
      besideCount += 1;
      expect(new KeyedLog(disk).runs()).not.toContain('keys-8-12.run');
    }
  }
  expect(besideCount).toBeGreaterThan(0);
});

test('the power cut at any call of a handle that makes a run: what is found afterwards is what the log has', () => {
  let diskCount = 0;
  let withRunsCount = 0;
  const whole = withKeys(16, 4);
  for (let call = 0, isDone = false; !isDone; call += 1) {
    const log = new KeyedLog(copyDisk(whole.fs));
    log.keys.push(...whole.keys);
    log.fs.crashAt(call);
    try {
      log.append(['late-1', 'late-2']);
    } catch (error) {
      if (!log.fs.isDown) throw error;
    }
    isDone = !log.fs.isDown;
    for (const disk of enumerateDisks(log.fs, call)) {
      diskCount += 1;
      // What is left of the log: all of it, or what was published before.
      for (const keptCount of [16, 18]) {
        const after = new KeyedLog(copyDisk(disk));
        after.keys.push(...named(0, 16), ...['late-1', 'late-2'].slice(0, keptCount - 16));
        after.append(['other-1', 'other-2', 'other-3', 'other-4'], after.open(16));
        after.append(['other-5']);
        if (after.runs().length > 0) withRunsCount += 1;
        after.check();
      }
    }
  }
  expect(diskCount).toBeGreaterThan(20);
  expect(withRunsCount).toBeGreaterThan(20);
});
