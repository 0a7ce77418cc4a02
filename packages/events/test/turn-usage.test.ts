import fc from 'fast-check';
import {
  addUsage,
  cacheHitRate,
  noTokens,
  readUsageCounts,
  type StoredEvent,
  turnUsage,
  type UsageCounts,
  uncachedInput,
} from '../src/index.js';
import { utf8 } from './wire-files.js';

/** An event as a log stores it. */
function stored(text: string): StoredEvent {
  const { type } = JSON.parse(text) as { type: string };
  return { type, eventBytes: () => utf8(text) };
}

function usageText(input: number | string, output: number | string = 0): string {
  return `{"input_tokens":${input},"cached_input_tokens":0,"cache_creation_tokens":0,"output_tokens":${output}}`;
}

const started = '{"type":"turn.started"}';
const completed = `{"type":"turn.completed","usage":${usageText(10)}}`;
const failed = `{"type":"turn.failed","message":"m","usage":${usageText(20)}}`;
const failedWithout = '{"type":"turn.failed","message":"m"}';
const failedWithNull = '{"type":"turn.failed","message":"m","usage":null}';
const withoutUsage = `{"type":"turn.completed","usage":${usageText(0)},"without_usage":true}`;
const withUsage = `{"type":"turn.completed","usage":${usageText(0)},"without_usage":false}`;
const blocked = `{"type":"turn.blocked","message":"m","usage":${usageText(30)}}`;
const blockedLater = `{"type":"turn.blocked","message":"m","usage":${usageText(40)}}`;
const blockedWithout = '{"type":"turn.blocked","message":"m"}';
const threadCompleted = `{"type":"thread.completed","thread_id":"t","session_id":"s","subtype":"success","outcome_code":"o","usage":${usageText(99)},"num_turns":1}`;
const redacted = (original: string, kept: string): string =>
  `{"type":"log.redacted","leaf":"0","original_type":"${original}","length":1,"redacted_at":"t"${kept}}`;

const turns: readonly (readonly [
  title: string,
  events: readonly string[],
  input: bigint | null,
  source: string | null,
])[] = [
  ['a completed turn', [started, completed], 10n, 'turn.completed'],
  ['a failed turn', [started, failed], 20n, 'turn.failed'],
  ['a blocked turn beside its failure: the failure alone', [started, blocked, failed], 20n, 'turn.failed'],
  ['the same in the other order', [started, failed, blocked], 20n, 'turn.failed'],
  [
    'a failure without usage: what was blocked has it',
    [started, blocked, failedWithout],
    30n,
    'turn.blocked',
  ],
  ['zeros that stand for no usage', [started, withoutUsage], null, null],
  ['the same behind what was blocked', [started, blocked, withoutUsage], 30n, 'turn.blocked'],
  ['zeros that were stated', [started, withUsage], 0n, 'turn.completed'],
  ['a failure with usage null', [started, blocked, failedWithNull], 30n, 'turn.blocked'],
  ['a blocked turn in the middle of a completed one', [started, blocked, completed], 10n, 'turn.completed'],
  [
    'several blocks: the newest alone',
    [started, blocked, blockedLater, blockedWithout, failedWithout],
    40n,
    'turn.blocked',
  ],
  ['a turn that no record closes', [started, blocked], 30n, 'turn.blocked'],
  ['a usage of 0 is known', [`{"type":"turn.completed","usage":{}}`], 0n, 'turn.completed'],
  [
    'a usage of 0 is not looked for elsewhere',
    [blocked, '{"type":"turn.completed","usage":{}}'],
    0n,
    'turn.completed',
  ],
  ['no usage anywhere is unknown, not 0', [started, blockedWithout, failedWithout], null, null],
  ['nothing at all', [], null, null],
  ['the usage of the thread is not that of a turn', [started, failedWithout, threadCompleted], null, null],
  ['a second end closes nothing', [started, completed, failed], 10n, 'turn.completed'],
  [
    'a broken usage is unknown, and stays the one of the closing record',
    [blocked, '{"type":"turn.failed","message":"m","usage":[1]}'],
    null,
    'turn.failed',
  ],
  [
    'a redacted end with its usage kept',
    [started, redacted('turn.completed', `,"kept":{"usage":${usageText(7)}}`)],
    7n,
    'turn.completed',
  ],
  [
    'a redacted record that does not say of which type',
    [blocked, redacted('turn.failed', '').replace('"turn.failed"', '7')],
    30n,
    'turn.blocked',
  ],
  ['a redacted end without', [started, blocked, redacted('turn.failed', '')], 30n, 'turn.blocked'],
  ['a redacted record of another type', [redacted('error', `,"kept":{"usage":${usageText(7)}}`)], null, null],
];

test.each(turns)('C-9 usage of a turn counts once: %s', (_title, events, input, source) => {
  const { usage, source: found } = turnUsage(events.map(stored));
  expect([usage?.input ?? null, found]).toEqual([input, source]);
});

test('C-9 the closing record alone counts, else the newest block with a usage, whatever the events', () => {
  const usage = fc.option(fc.nat({ max: 50 }), { nil: null });
  const event = fc.record({
    type: fc.constantFrom('turn.completed', 'turn.failed', 'turn.blocked', 'turn.started', 'error'),
    usage,
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 8 }), (events) => {
      const closing = events.find(({ type }) => type === 'turn.completed' || type === 'turn.failed');
      const block = events.findLast((given) => given.type === 'turn.blocked' && given.usage !== null);
      const wanted = closing?.usage ?? block?.usage ?? null;
      const texts = events.map((given) =>
        JSON.stringify({
          type: given.type,
          usage: given.usage === null ? null : { input_tokens: given.usage },
        }),
      );
      const counted = turnUsage(texts.map(stored)).usage;
      expect(counted).toEqual(wanted === null ? null : { ...noTokens, input: BigInt(wanted) });
    }),
    { numRuns: 300 },
  );
});

function counts(text: string): UsageCounts | null {
  const bytes = utf8(`##${text}##`);
  return readUsageCounts(bytes, 2, bytes.length - 2);
}

const countTexts: readonly (readonly [title: string, text: string, input: bigint | null])[] = [
  ['digits', '{"input_tokens":12}', 12n],
  ['a number that no double holds', '{"input_tokens":9007199254740993}', 9_007_199_254_740_993n],
  ['the highest', '{"input_tokens":18446744073709551615}', 18_446_744_073_709_551_615n],
  ['one more', '{"input_tokens":18446744073709551616}', null],
  ['far more', '{"input_tokens":999999999999999999999999}', null],
  ['absent', '{}', 0n],
  ['null', '{"input_tokens":null}', 0n],
  ['a fraction', '{"input_tokens":1.0}', null],
  ['an exponent', '{"input_tokens":1e3}', null],
  ['a sign', '{"input_tokens":-0}', null],
  ['a text', '{"input_tokens":"12"}', null],
  ['an object', '{"input_tokens":{"input_tokens":12}}', null],
  ['true', '{"input_tokens":true}', null],
  ['a fault in another member', '{"input_tokens":12,"output_tokens":"many"}', null],
  ['the last of two', '{"input_tokens":12,"input_tokens":13}', 13n],
  ['through escapes', '{"input\\u005ftokens":12}', 12n],
  [
    'beside members that are not known',
    '{"cost":{"input_tokens":5},"input_tokens":12,"reasoning_tokens":4}',
    12n,
  ],
  ['a list', '[12]', null],
  ['no JSON', '{"input_tokens":12', null],
];

test.each(countTexts)('counts are read as they are written: %s', (_title, text, input) => {
  expect(counts(text)?.input ?? null).toBe(input);
});

test('each member is read from its own name', () => {
  const text = '{"output_tokens":4,"input_tokens":10,"cache_creation_tokens":3,"cached_input_tokens":2}';
  expect(counts(text)).toEqual({ input: 10n, cached: 2n, creation: 3n, output: 4n });
});

const usage = fc.record({
  input: fc.bigInt(0n, 18_446_744_073_709_551_615n),
  cached: fc.bigInt(0n, 18_446_744_073_709_551_615n),
  creation: fc.bigInt(0n, 18_446_744_073_709_551_615n),
  output: fc.bigInt(0n, 18_446_744_073_709_551_615n),
});

test('sums are exact and stay at 2^64-1 where they would pass it', () => {
  const top = 2n ** 64n - 1n;
  const one = { input: 1n, cached: 2n, creation: 3n, output: 4n };
  expect(addUsage(one, one)).toEqual({ input: 2n, cached: 4n, creation: 6n, output: 8n });
  expect(addUsage({ ...one, input: top }, one)).toEqual({ ...addUsage(one, one), input: top });
  expect(addUsage({ ...noTokens, input: top - 1n }, { ...noTokens, input: 1n }).input).toBe(top);
  fc.assert(
    fc.property(usage, usage, usage, (a, b, c) => {
      expect(addUsage(a, noTokens)).toEqual(a);
      expect(addUsage(a, b)).toEqual(addUsage(b, a));
      expect(addUsage(addUsage(a, b), c)).toEqual(addUsage(a, addUsage(b, c)));
      const sum = a.output + b.output;
      expect(addUsage(a, b).output).toBe(sum > top ? top : sum);
    }),
  );
});

test('uncached input is never negative, and there is no hit rate without input', () => {
  expect(uncachedInput({ input: 10n, cached: 2n, creation: 3n, output: 0n })).toBe(5n);
  expect(uncachedInput({ input: 4n, cached: 2n, creation: 3n, output: 0n })).toBe(0n);
  expect(cacheHitRate({ input: 10n, cached: 4n, creation: 0n, output: 0n })).toBe(0.4);
  expect(cacheHitRate({ input: 0n, cached: 4n, creation: 0n, output: 0n })).toBeNull();
  const big = 9_007_199_254_740_993n;
  expect(uncachedInput({ input: big, cached: 1n, creation: 0n, output: 0n })).toBe(big - 1n);
});
