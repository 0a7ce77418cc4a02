import fc from 'fast-check';
import { digestOfLines, line, usage } from './support.js';

/** Random logs of what views look at: few ids, so that they meet again, and odd values among good ones. */

/** Stands for the digest, and the count, of what stands between the newest begin and the commit. */
const right = 'right';

const few = (...names: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...names);
const tokens = fc.oneof(fc.nat(1_000), fc.constant(9_007_199_254_740_991));
const anyUsage = fc.tuple(tokens, tokens, tokens, tokens).map(([a, b, c, d]) => usage(a, b, c, d));
const oddUsage = fc.oneof(
  { weight: 5, arbitrary: anyUsage },
  { weight: 1, arbitrary: fc.constantFrom({}, { input_tokens: 'x' }, { input_tokens: -1 }) },
);
const session = few('s-1', 's-2', 'other');
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });
const status = few('completed', 'failed', 'in_progress', 'strange');
const itemId = few('i1', 'i2', 'i3');
const path = few('src/a.ts', 'src/b.ts', '/srv/x', '__proto__');

const item = fc.oneof(
  fc.record({
    id: itemId,
    type: few('tool_invocation', 'mcp_tool_call', 'command_execution'),
    tool_name: optional(few('shell', '__proto__', 'constructor')),
    tool_call_id: optional(few('c1', 'c2')),
    arguments: optional(
      fc.record({ path: optional(path), paths: optional(fc.array(path, { maxLength: 2 })) }),
    ),
    status,
  }),
  fc.record({
    id: itemId,
    type: fc.constant('file_change'),
    changes: fc.array(fc.record({ path, kind: few('add', 'update', 'delete', 'moved') }), { maxLength: 3 }),
    status,
  }),
  fc.record({
    id: itemId,
    type: few('decision'),
    summary: fc.string({ maxLength: 8 }),
    rationale: fc.constant(''),
  }),
  fc.record({ id: itemId, type: few('plan', 'agent_message'), text: fc.string({ maxLength: 8 }) }),
  fc.record({
    id: itemId,
    type: fc.constant('harness'),
    event: few('verification_failed', 'evaluation_passed', 'delegated_agent_status', 'odd'),
    message: fc.string({ maxLength: 8 }),
  }),
  fc.record({ id: fc.oneof(itemId, fc.constant(7)), type: few('strange', 'error') }),
);

const task = few('t1', 't2', 't3');
const matrix = fc.record({
  type: fc.constant('matrix.updated'),
  spec: fc.record({
    id: few('m1', 'm2'),
    tasks: fc.array(
      fc.record({ id: task, instructions: fc.string({ maxLength: 5 }), checks: fc.constant(['test']) }),
      {
        maxLength: 3,
      },
    ),
  }),
  lifecycle: fc.constant('running'),
  tasks: fc.array(fc.record({ id: task, status: few('queued', 'verified', 'failed', 'odd') }), {
    maxLength: 3,
  }),
  generation: fc.constant(null),
  revision: fc.nat(5),
});

const event: fc.Arbitrary<object> = fc.oneof(
  fc.record({
    type: fc.constant('turn.started'),
    context: optional(fc.record({ task_id: task, goal: optional(few('parse', 'print')) })),
  }),
  fc.record({ type: fc.constant('turn.completed'), usage: oddUsage }),
  fc.record({
    type: few('turn.failed', 'turn.blocked'),
    message: fc.constant('no'),
    usage: optional(oddUsage),
  }),
  fc.record({ type: few('item.started', 'item.updated', 'item.completed'), item }),
  fc.record({
    type: fc.constant('run.answer'),
    answer_id: few('a1', 'a2', 'a3'),
    request_id: optional(few('r1')),
    model: optional(few('m-1', 'm-2')),
    usage: oddUsage,
    cost_usd: optional(fc.double({ min: 0, max: 1, noNaN: true })),
    repeat_of: optional(session),
  }),
  fc.record({
    type: fc.constant('run.started'),
    program: fc.constant('p'),
    cwd: few('/srv/a', '/srv/b'),
    model: optional(few('m-1', 'm-2')),
    parent: optional(fc.record({ session })),
    forked_from: optional(fc.record({ session })),
  }),
  fc.record({ type: fc.constant('run.changed'), field: few('model', 'cwd'), value: few('m-1', 'm-3') }),
  fc.record({
    type: fc.constant('run.imported'),
    ledger: fc.record({ records: fc.record({ 'mapped:user': fc.nat(9), 'repeat:user': fc.nat(9) }) }),
  }),
  fc.record({
    type: fc.constant('thread.completed'),
    thread_id: fc.constant('t'),
    session_id: fc.constant('s'),
    subtype: fc.constant('success'),
    outcome_code: fc.constant('success'),
    usage: anyUsage,
    total_cost_usd: optional(fc.double({ min: 0, max: 9, noNaN: true })),
    num_turns: fc.nat(3),
  }),
  fc.record({
    type: fc.constant('user.message'),
    id: fc.constant('u'),
    origin: few('prompt', 'compact_summary', 'injected'),
    content: fc.array(fc.record({ type: few('text', 'odd'), text: fc.string({ maxLength: 8 }) }), {
      maxLength: 2,
    }),
  }),
  matrix,
  fc.record({
    type: few('journal.begin', 'journal.void'),
    frame: few('f1', 'f2'),
    kind: fc.constant('plan'),
  }),
  fc.record({
    type: fc.constant('journal.commit'),
    frame: few('f1', 'f2'),
    count: fc.nat(2),
    sha256: few('', right),
  }),
  fc.record({ type: few('plan.approval.requested', 'plan.approval.resolved'), turn_id: few('x', 'y') }),
  fc.record({
    type: fc.constant('log.redacted'),
    leaf: fc.constant('0'.repeat(64)),
    original_type: few('turn.completed', 'turn.started', 'run.answer', 'user.message'),
    length: fc.constant(9),
    redacted_at: fc.constant('2026-01-05T10:00:00.000Z'),
    kept: optional(fc.record({ usage: anyUsage })),
  }),
  fc.record({
    type: few('log.summary', 'log.recovered', 'error', 'x.vendor.thing'),
    text: fc.string({ maxLength: 5 }),
  }),
);

/** Usually one second after the record before; sometimes long ago, nowhere, or no time at all. */
const ts = fc.oneof(
  { weight: 8, arbitrary: fc.constant(null) },
  {
    weight: 1,
    arbitrary: few('1970-01-01T00:00:00.000Z', '1999-12-31T23:59:59.999Z', '2026-03-29T01:30:00.000Z'),
  },
  { weight: 1, arbitrary: fc.constantFrom('yesterday', '', -1) },
);

/** The event with what its commit should say, if it is one that should be right. */
function righted(value: object, before: readonly string[]): object {
  if (!('sha256' in value) || value.sha256 !== right) return value;
  const begin = before.findLastIndex((text) => text.includes('"journal.begin"'));
  const members = before.slice(begin + 1);
  return { ...value, count: members.length, sha256: digestOfLines(members) };
}

/** The lines of a log, each with its 0x0A. */
export const arbitraryLines: fc.Arbitrary<readonly string[]> = fc
  .array(fc.tuple(event, ts), { minLength: 1, maxLength: 40 })
  .map((records) =>
    records.reduce<string[]>((lines, [given, time]) => {
      const [seq, value] = [lines.length + 1, righted(given, lines)];
      lines.push(time === null ? line(seq, value) : line(seq, value, time));
      return lines;
    }, []),
  );
