import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LogFollower, type LogReader } from '@turnlog/log';
import { line, note, TestLog } from './support.js';

// The files of the failure log come with the specifications; a plain checkout does not have them.
const cases = join(__dirname, '..', '..', '..', '..', 'shared', 'cases');
const hasCases = existsSync(join(cases, 'SHA256SUMS'));

interface ExpectedCase {
  readonly events?: number;
  readonly lastSeq?: number;
  readonly seqs?: readonly number[];
  readonly damage?: readonly { readonly kind: string; readonly offset: number; readonly length: number }[];
  readonly damageCount?: number;
  readonly invalidTs?: readonly number[];
  readonly lastActivity?: string;
  readonly mustContain?: readonly string[];
  readonly tooDeep?: readonly number[];
  readonly openTurns?: readonly number[];
  readonly invalidUtf8Lines?: readonly number[];
  readonly loneSurrogateSeqs?: readonly number[];
}

function checkedBytes(folder: string, name: string): Buffer {
  const bytes = readFileSync(join(cases, folder, name));
  const digest = createHash('sha256').update(bytes).digest('hex');
  expect(readFileSync(join(cases, 'SHA256SUMS'), 'utf8')).toContain(digest);
  return bytes;
}

function expectReading(reader: LogReader, expected: ExpectedCase): void {
  const records = [...reader.records()];
  if (expected.events !== undefined) expect(records.length).toBe(expected.events);
  if (expected.lastSeq !== undefined) expect(reader.state.order.highestSeq).toBe(expected.lastSeq);
  if (expected.seqs !== undefined) expect(records.map((record) => record.seq)).toEqual(expected.seqs);
  if (expected.damageCount !== undefined) expect(reader.damage().length).toBe(expected.damageCount);
  if (expected.damage !== undefined) {
    expect(reader.damage().map(({ kind, offset, length }) => ({ kind, offset, length }))).toEqual(
      expected.damage,
    );
  }
  if (expected.openTurns !== undefined)
    expect([reader.state.lifecycle.open?.turn]).toEqual(expected.openTurns);
  if (expected.lastActivity !== undefined) {
    expect(reader.state.newestTsMs).toBe(Date.parse(expected.lastActivity));
  }
  const seqsWith = (flag: string): readonly number[] =>
    records
      .filter((record) => record.inspect().flags.some((found) => found === flag))
      .map((record) => record.seq);
  if (expected.tooDeep !== undefined) expect(seqsWith('too-deep')).toEqual(expected.tooDeep);
  if (expected.loneSurrogateSeqs !== undefined)
    expect(seqsWith('lone-surrogate')).toEqual(expected.loneSurrogateSeqs);
  if (expected.invalidUtf8Lines !== undefined)
    expect(seqsWith('invalid-utf8')).toEqual(expected.invalidUtf8Lines);
  for (const seq of expected.invalidTs ?? []) {
    expect(records.find((record) => record.seq === seq)?.ts).toBeNull();
  }
}

function logFiles(): readonly (readonly [title: string, folder: string, name: string])[] {
  const found: (readonly [string, string, string])[] = [];
  for (const folder of readdirSync(cases).filter((name) => name.startsWith('B'))) {
    for (const name of readdirSync(join(cases, folder))) {
      if (/^events.*\.jsonl$/.test(name))
        found.push([`${folder.split('-')[0]} ${folder}/${name}`, folder, name]);
    }
  }
  return found;
}

if (hasCases) {
  describe('files of the failure log', () => {
    test.each(logFiles())(
      '%s reads as expected, whatever the metadata, and a writer keeps every record',
      async (_title, folder, name) => {
        const expected = JSON.parse(
          readFileSync(join(cases, folder, 'expected.json'), 'utf8'),
        ) as ExpectedCase;
        const bytes = checkedBytes(folder, name);
        const log = new TestLog();
        log.plant(bytes);
        if (folder.startsWith('B46'))
          log.replace('manifest.json', checkedBytes(folder, 'manifest.json').toString('utf8'));
        const before = log.snapshot();
        const reader = log.read();
        expectReading(reader, expected);
        const stored = [...reader.records()].map((record) => Buffer.from(record.bytes));
        const { highestSeq } = reader.state.order;
        reader.close();
        expect(log.snapshot()).toEqual(before);
        for (const text of expected.mustContain ?? []) expect(bytes.includes(text)).toBe(true);

        const writer = await log.open();
        const { seq } = writer.append(note('new'));
        await writer.close();
        expect(seq).toBe(highestSeq + 1 + writer.report.recovered.length);
        const again = log.read();
        const kept = [...again.records()].map((record) => Buffer.from(record.bytes));
        expect(kept.slice(0, stored.length)).toEqual(stored);
        expect(kept.at(-1)?.toString('utf8')).toBe(
          line(seq, note('new'), again.tail(1)[0]?.ts ?? '').trimEnd(),
        );
        again.close();
        expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
      },
    );

    test('B80 half a line, then the rest', () => {
      const [first, second] = [
        checkedBytes('B80-half-line-then-rest', 'part1.bin'),
        checkedBytes('B80-half-line-then-rest', 'part2.bin'),
      ];
      for (const isRestarted of [false, true]) {
        const log = new TestLog();
        log.plant(first);
        const follower = new LogFollower(log.fs, log.directory, 'case');
        expect(follower.poll().length).toBe(1);
        expect(follower.cursor.offset).toBe(157);
        log.plant(Buffer.concat([first, second]));
        const next = isRestarted ? new LogFollower(log.fs, log.directory, 'case', follower.cursor) : follower;
        const records = next.poll();
        expect(records.map((record) => record.readEvent())).toMatchObject([
          { item: { text: 'half 你好 line' } },
        ]);
        next.close();
        if (next !== follower) follower.close();
      }
    });
  });
} else {
  test('the files of the failure log are not here: what follows from them is not checked', () => {
    expect(hasCases).toBe(false);
  });
}

describe('T-30, B40, B41, B44, B46, B47, B48 values that JSON parsers mistreat', () => {
  const deep = `{"type":"x.a.deep","v":${'['.repeat(6_000)}${']'.repeat(6_000)}}`;
  const events: readonly (readonly [name: string, text: string, flags: readonly string[]])[] = [
    ['T-30 a lone half', '{"type":"x.a.b","v":"\\ud83d end"}', ['unknown-type', 'lone-surrogate']],
    [
      'T-30 big integers',
      '{"type":"x.a.b","v":[2512292042121000001,1e400,-0,1.0]}',
      ['unknown-type', 'inexact-number'],
    ],
    ['T-30 __proto__', '{"type":"x.a.b","__proto__":{"polluted":1},"constructor":{}}', ['unknown-type']],
    ['T-30 6,000 levels', deep, ['unknown-type', 'too-deep']],
  ];

  test.each(events)('%s is counted, flagged and kept byte for byte', async (_name, text, flags) => {
    const log = new TestLog();
    const stored = `{"schema_version":"0.18.0","seq":1,"ts":"2026-10-05T08:00:00.000Z","event":${text}}\n`;
    log.plant(stored);
    const reader = log.read();
    const [record] = [...reader.records()];
    expect(reader.state.lifecycle.eventCount).toBe(1);
    expect([...(record?.inspect().flags ?? [])].sort()).toEqual([...flags].sort());
    expect(Buffer.from(record?.bytes ?? []).toString('utf8')).toBe(stored.trimEnd());
    record?.readEvent();
    reader.close();
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    await log.write([note('new')]);
    expect(log.text().startsWith(stored)).toBe(true);
  });

  test('T-30 raw half surrogate bytes ED A6 9C are flagged and kept', () => {
    const log = new TestLog();
    const [head, tail] = line(1, note('#')).split('#');
    const stored = Buffer.concat([
      Buffer.from(head ?? ''),
      Buffer.from([0xed, 0xa6, 0x9c]),
      Buffer.from(tail ?? ''),
    ]);
    log.plant(stored);
    const reader = log.read();
    const [record] = [...reader.records()];
    expect(record?.inspect().flags).toContain('invalid-utf8');
    expect(Buffer.from(record?.bytes ?? []).equals(stored.subarray(0, -1))).toBe(true);
    reader.close();
  });

  test('T-30 appending such a depth is refused', async () => {
    const log = new TestLog();
    const writer = await log.open();
    expect(() => writer.append({ raw: deep })).toThrow(expect.objectContaining({ code: 'TURNLOG_TOO_DEEP' }));
    expect(() => writer.append(JSON.parse(deep) as never)).toThrow(
      expect.objectContaining({ code: 'TURNLOG_TOO_DEEP' }),
    );
    await writer.close();
  });
});
