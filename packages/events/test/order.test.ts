import { limits } from '@turnlog/kernel';
import {
  emptyOrder,
  encodeEvent,
  encodeRecord,
  type Ordered,
  type OrderState,
  order,
  type PeekedRecord,
  peekRecord,
} from '../src/index.js';
import { goldenBytes, linesOf, utf8 } from './wire-files.js';

function peeked(text: string): PeekedRecord {
  const bytes = utf8(text);
  const record = peekRecord(bytes, 0, bytes.length);
  if (typeof record === 'string') throw new Error(`not a record: ${record}`);
  return record;
}

function recordOf(members: string, type = 'error'): PeekedRecord {
  return peeked(`{"schema_version":"0.18.0",${members}"event":{"type":"${type}","message":"m"}}`);
}

function at(highestSeq: number): OrderState {
  return { highestSeq, lastTsMs: null, recordCount: highestSeq === 0 ? 0 : 1 };
}

const numbered: readonly (readonly [
  title: string,
  highestSeq: number,
  members: string,
  isSame: boolean,
  seq: number,
  flags: readonly string[],
])[] = [
  ['C-36 the next number', 6, '"seq":7,', false, 7, []],
  ['C-36 the first number', 0, '"seq":1,', false, 1, []],
  ['C-36 no number', 6, '', false, 7, ['seq-missing']],
  ['C-36 a text', 6, '"seq":"7",', false, 7, ['seq-invalid']],
  ['C-36 null', 6, '"seq":null,', false, 7, ['seq-invalid']],
  ['C-36 a fraction', 6, '"seq":9.0,', false, 7, ['seq-invalid']],
  ['C-36 an exponent', 6, '"seq":9e0,', false, 7, ['seq-invalid']],
  ['C-36 zero', 6, '"seq":0,', false, 7, ['seq-invalid']],
  ['C-36 below zero', 6, '"seq":-8,', false, 7, ['seq-invalid']],
  [
    'C-36 2^53',
    9_007_199_254_740_990,
    '"seq":9007199254740992,',
    false,
    9_007_199_254_740_991,
    ['seq-invalid'],
  ],
  ['C-36 2^53-1', 9_007_199_254_740_990, '"seq":9007199254740991,', false, 9_007_199_254_740_991, []],
  ['C-36 2^32 above', 6, `"seq":${6 + limits.seqJumpMax},`, false, 6 + limits.seqJumpMax, ['seq-gap']],
  ['C-36 more than 2^32 above', 6, `"seq":${7 + limits.seqJumpMax},`, false, 7, ['seq-invalid']],
  ['C-36 the same bytes again', 6, '"seq":6,', true, 6, ['seq-repeat']],
  ['C-36 the same number, other bytes', 6, '"seq":6,', false, 6, ['seq-conflict']],
  ['C-36 a lower number', 6, '"seq":2,', false, 2, ['seq-conflict']],
  ['C-36 a gap', 6, '"seq":9,', false, 9, ['seq-gap']],
  ['C-36 a first record above 1', 0, '"seq":9,', false, 9, ['prefix-missing']],
];

test.each(numbered)('%s', (_title, highestSeq, members, isSame, seq, flags) => {
  const ordered = order(at(highestSeq), recordOf(members), () => isSame);
  expect([ordered.seq, ordered.flags]).toEqual([seq, flags]);
  expect(ordered.state.highestSeq).toBe(Math.max(highestSeq, seq));
  expect(ordered.state.recordCount).toBe(at(highestSeq).recordCount + 1);
});

test('C-36 the header of an evicted log begins the numbers anywhere, as the first record only', () => {
  const golden = goldenBytes('golden.jsonl');
  const header = peekRecord(golden, 0, linesOf(golden)[0]?.end ?? 0);
  if (typeof header === 'string') throw new Error(header);
  expect(order(emptyOrder, header, () => false)).toMatchObject({ seq: 40, flags: [] });
  const far = { ...header, statedSeq: 2 ** 40 };
  expect(order(emptyOrder, far, () => false)).toMatchObject({ seq: 2 ** 40, flags: [] });
  expect(order(at(20), header, () => false)).toMatchObject({ seq: 40, flags: ['seq-gap'] });
});

test('C-36 the next append takes the highest number and one more, whatever came in between', () => {
  let state = emptyOrder;
  for (const members of ['"seq":4,', '"seq":2,', '"seq":9,', '"seq":9,', '']) {
    state = order(state, recordOf(members), () => false).state;
  }
  expect(state.highestSeq).toBe(10);
  const next = encodeRecord(
    { seq: state.highestSeq + 1, ts: null },
    encodeEvent({ type: 'error', message: 'm' }),
  );
  const record = peekRecord(next, 0, next.length - 1);
  if (typeof record === 'string') throw new Error(record);
  expect(order(state, record, () => false)).toMatchObject({ seq: 11, flags: [] });
});

test('C-7 lines without number and time take the place after the highest, and no time', () => {
  const old = peeked(
    '{"schema_version":"0.1.0","trace":{"kept":1},"event":{"type":"error","message":"old"}}',
  );
  expect(old).toMatchObject({
    statedSeq: null,
    hasSeq: false,
    ts: null,
    hasTs: false,
    schemaVersion: '0.1.0',
  });
  const first = order(emptyOrder, old, () => false);
  expect(first).toMatchObject({ seq: 1, tsMs: null, flags: ['seq-missing'] });
  const late: Ordered = order({ highestSeq: 41, lastTsMs: 5, recordCount: 3 }, old, () => false);
  expect(late).toMatchObject({ seq: 42, tsMs: null, flags: ['seq-missing'] });
  expect(late.state).toEqual({ highestSeq: 42, lastTsMs: 5, recordCount: 4 });
});

const timed: readonly (readonly [
  title: string,
  ts: string,
  tsMs: number | null,
  flags: readonly string[],
])[] = [
  ['C-37 a later time', '"1970-01-01T00:00:02Z"', 2_000, []],
  ['C-37 the same time', '"1970-01-01T00:00:01Z"', 1_000, []],
  ['C-37 an earlier time', '"1970-01-01T00:00:00.999Z"', 999, ['ts-back']],
  ['C-37 an earlier time of another zone', '"1970-01-01T01:00:00+01:00"', 0, ['ts-back']],
  ['C-37 an escape in a time', '"1970-01-01T00:00:02\\u005a"', 2_000, []],
  ['C-37 30 February', '"2026-02-30T10:00:00Z"', null, ['ts-invalid']],
  ['C-37 a number', '1767607200000', null, ['ts-invalid']],
  ['C-37 null', 'null', null, ['ts-invalid']],
];

test.each(timed)('%s', (_title, ts, tsMs, flags) => {
  const state = { highestSeq: 6, lastTsMs: 1_000, recordCount: 6 };
  const ordered = order(state, recordOf(`"seq":7,"ts":${ts},`), () => false);
  expect([ordered.seq, ordered.tsMs, ordered.flags]).toEqual([7, tsMs, flags]);
  expect(ordered.state.lastTsMs).toBe(tsMs ?? 1_000);
});

test('the bytes of the record before are asked for only where the number was used', () => {
  const ask = jest.fn(() => true);
  order(at(6), recordOf('"seq":7,'), ask);
  order(at(6), recordOf(''), ask);
  expect(ask).not.toHaveBeenCalled();
});
