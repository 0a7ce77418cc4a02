import { limits } from '@turnlog/kernel';
import fc from 'fast-check';
import {
  checkKey,
  decodeRecord,
  type Envelope,
  encodeEvent,
  encodeRawEvent,
  encodeRecord,
  recordBytesMax,
  schemaVersion,
  writeRecord,
} from '../src/index.js';

const decoder = new TextDecoder();
const started = encodeEvent({ type: 'turn.started' });
const ts = '2026-10-05T08:30:00.125Z';

const lines: readonly (readonly [title: string, envelope: Envelope, line: string])[] = [
  [
    'C-2 number and time',
    { seq: 7, ts },
    '{"schema_version":"0.18.0","seq":7,"ts":"2026-10-05T08:30:00.125Z","event":{"type":"turn.started"}}\n',
  ],
  [
    'C-2 no time',
    { seq: 10, ts: null },
    '{"schema_version":"0.18.0","seq":10,"event":{"type":"turn.started"}}\n',
  ],
  [
    'C-2 key and salt before the event',
    { seq: 9_007_199_254_740_991, ts, key: 'a"\u2028é', salt: '8f14e45fceea167a5a36dedd4bea2543' },
    '{"schema_version":"0.18.0","seq":9007199254740991,"ts":"2026-10-05T08:30:00.125Z","key":"a\\"\\u2028é","salt":"8f14e45fceea167a5a36dedd4bea2543","event":{"type":"turn.started"}}\n',
  ],
  [
    'C-2 a key without time',
    { seq: 99, ts: null, key: 'k' },
    '{"schema_version":"0.18.0","seq":99,"key":"k","event":{"type":"turn.started"}}\n',
  ],
];

test.each(lines)('%s', (_title, envelope, line) => {
  const bytes = encodeRecord(envelope, started);
  expect(decoder.decode(bytes)).toBe(line);
  expect(bytes.length).toBeLessThanOrEqual(recordBytesMax(envelope, started));
  const into = new Uint8Array(2_000).fill(0x2e);
  const end = writeRecord(into, 11, envelope, started);
  expect(Buffer.from(into.subarray(11, end)).equals(bytes)).toBe(true);
  expect(decoder.decode(into.subarray(0, 11))).toBe('...........');
});

test('the written version is that of the contract', () => {
  expect(schemaVersion).toBe('0.18.0');
});

test('the bound holds for every text, and what was written is read back', () => {
  const event = fc.record({
    type: fc.constant('x.n'),
    v: fc.string({ unit: 'binary' }),
    w: fc.string({ unit: 'grapheme' }),
  });
  const key = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    .filter((text) => !/\p{Cc}/u.test(text));
  fc.assert(
    fc.property(fc.maxSafeNat(), key, event, (before, text, value) => {
      const envelope = { seq: Math.min(before + 1, Number.MAX_SAFE_INTEGER), ts, key: text };
      const encoded = encodeEvent(value);
      const bytes = encodeRecord(envelope, encoded);
      expect(bytes.length).toBeLessThanOrEqual(recordBytesMax(envelope, encoded));
      expect(bytes.indexOf(0x0a)).toBe(bytes.length - 1);
      expect(decodeRecord(bytes, 0, bytes.length - 1)).toEqual({
        schemaVersion,
        ...envelope,
        salt: null,
        event: value,
      });
    }),
  );
});

function eventOf(bytes: number): ReturnType<typeof encodeRawEvent> {
  const frame = '{"type":"x.n","v":""}';
  return encodeRawEvent(`{"type":"x.n","v":"${'é'.repeat(10)}${'a'.repeat(bytes - frame.length - 20)}"}`);
}

test('the bound holds for a key of nothing but escapes', () => {
  const envelope = { seq: 1, ts: null, key: '\u2028'.repeat(85) };
  expect(encodeRecord(envelope, started).length).toBeLessThanOrEqual(recordBytesMax(envelope, started));
});

test('a line of 16 MiB is written and one byte more is refused', () => {
  const around = encodeRecord({ seq: 1, ts }, started).length - 1 - started.text.length;
  const most = eventOf(limits.writerLineBytesMax - around);
  expect(encodeRecord({ seq: 1, ts }, most).length).toBe(limits.writerLineBytesMax + 1);
  const lineBytes = limits.writerLineBytesMax + 1;
  expect(() => encodeRecord({ seq: 10, ts }, most)).toThrow(
    expect.objectContaining({
      code: 'TURNLOG_RECORD_TOO_LARGE',
      details: { lineBytes, lineBytesMax: limits.writerLineBytesMax },
    }),
  );
});

test('a buffer without room is a bug of the caller', () => {
  expect(() => writeRecord(new Uint8Array(50), 0, { seq: 1, ts }, started)).toThrow('room');
  expect(() => encodeRecord({ seq: 0, ts }, started)).toThrow('seq');
  expect(() => encodeRecord({ seq: 1, ts: '"' }, started)).toThrow('escape');
});

test.each([['a'], ['a'.repeat(256)], ['é'.repeat(128)], ['job/compaction/s-7/27'], ['"\\ \u2028🦊']])(
  '%j is a key',
  (key) => {
    expect(() => checkKey(key)).not.toThrow();
  },
);

test.each([
  ['nothing', '', '1 to 256 bytes'],
  ['257 bytes', 'a'.repeat(257), '1 to 256 bytes'],
  ['258 bytes in 129 characters', 'é'.repeat(129), '1 to 256 bytes'],
  ['a line end', 'a\nb', 'no control characters'],
  ['a zero', '\0', 'no control characters'],
  ['U+0085', '\u0085', 'no control characters'],
  ['DEL', '\u007f', 'no control characters'],
  ['half a pair', '\ud83d', 'whole characters'],
])('a key of %s is refused', (_title, key, rule) => {
  expect(() => checkKey(key)).toThrow(
    expect.objectContaining({ code: 'TURNLOG_INVALID_EVENT', details: { place: '/key', rule } }),
  );
});
