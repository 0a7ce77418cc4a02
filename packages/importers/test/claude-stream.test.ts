import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeRawEvent } from '@turnlog/events';
import { SeededRandom } from '@turnlog/testkit';
import { openEventStream } from '../src/index.js';
import {
  eventOf,
  type Folded,
  fold,
  foldInto,
  linesOf,
  plainOptions,
  textOf,
  typesOf,
} from './stream-lines.js';

/**
 * There is no public sample of `claude -p --output-format stream-json --verbose`: every stream here, and under
 * test/golden/importers/claude-stream, is made by hand from the description of the format (IM-41).
 */
const golden = join(__dirname, '..', '..', '..', 'test', 'golden', 'importers', 'claude-stream');
const cases = readdirSync(golden).sort();

function inputOf(name: string): Uint8Array {
  return readFileSync(join(golden, name, 'input.jsonl'));
}

/** What a golden holds: every event as it was written, with its key. */
function linesIn(folded: Folded): object {
  const events = (mapped: Folded['events']): readonly (readonly [string, string])[] =>
    mapped.map(({ event, key }) => [key ?? '', textOf(event)]);
  return {
    session_id: folded.sessionId,
    outcome: folded.outcome,
    events: events(folded.events),
    children: Object.fromEntries([...folded.children].map(([id, mapped]) => [id, events(mapped)])),
    refused: folded.refused,
    unanswered: folded.stream.unansweredCount,
    ledger: folded.stream.ledger,
  };
}

/** Made once, with the variable TURNLOG_MAKE_GOLDENS set; a file that is there is never written again. */
function expectedOf(name: string, found: object): unknown {
  const path = join(golden, name, 'expected.json');
  if (!existsSync(path) && process.env['TURNLOG_MAKE_GOLDENS'] === '1') {
    writeFileSync(path, `${JSON.stringify(found, null, 1)}\n`, { flag: 'wx' });
  }
  return JSON.parse(readFileSync(path, 'utf8'));
}

test.each(cases)(
  'the stream %s, made by hand from IM-41, gives what is frozen, and a log takes all of it',
  (name) => {
    const folded = fold(inputOf(name));
    const found = linesIn(folded);
    expect(JSON.parse(JSON.stringify(found))).toEqual(expectedOf(name, found));
    for (const mapped of [folded.events, ...folded.children.values()]) {
      for (const { event } of mapped) expect(encodeRawEvent(textOf(event)).text).toBe(textOf(event));
      const keys = mapped.map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
    }
  },
);

test.each(cases)('a changed byte of the stream %s changes what it gives', (name) => {
  const input = inputOf(name);
  const text = new TextDecoder().decode(input).replace('/srv/work/parser', '/srv/work/parsed');
  expect(linesIn(fold(new TextEncoder().encode(text)))).not.toEqual(linesIn(fold(input)));
});

test.each(cases)('the stream %s gives the same from pieces of 1, 7 and 65,536 bytes', (name) => {
  const input = inputOf(name);
  const [first, ...others] = [1, 7, 65_536].map((piece) => linesIn(fold(input, plainOptions, piece)));
  for (const other of others) expect(other).toEqual(first);
});

test.each(cases)('what the stream %s gives up to any line begins what it gives as a whole', (name) => {
  const input = inputOf(name);
  const whole = fold(input);
  for (let end = input.indexOf(0x0a); end !== -1; end = input.indexOf(0x0a, end + 1)) {
    const stream = openEventStream(plainOptions);
    const pushed = stream.push.bind(stream);
    const events: unknown[] = [];
    for (let start = 0; start <= end; ) {
      const next = input.indexOf(0x0a, start);
      events.push(...pushed(input.subarray(start, next)).events);
      start = next + 1;
    }
    expect(events).toEqual(whole.events.slice(0, events.length));
  }
});

test.each(cases)('every byte of the stream %s is accounted for', (name) => {
  const input = inputOf(name);
  const { bytes, mapped, kept, refused } = fold(input).stream.ledger;
  expect([bytes, mapped + kept + refused]).toEqual([input.length, input.length]);
});

function only(events: Folded['events'], type: string): readonly Readonly<Record<string, unknown>>[] {
  return events.map(({ event }) => eventOf(event)).filter((event) => event['type'] === type);
}

test('usage counts once per answer, by its last row, cached tokens included', () => {
  const { events } = fold(inputOf('one-turn'));
  expect(
    only(events, 'run.answer').map(({ answer_id, usage, reliable }) => [answer_id, usage, reliable]),
  ).toEqual([
    [
      'msg_1',
      { input_tokens: 104, cached_input_tokens: 0, cache_creation_tokens: 100, output_tokens: 25 },
      true,
    ],
    [
      'msg_2',
      { input_tokens: 112, cached_input_tokens: 100, cache_creation_tokens: 10, output_tokens: 20 },
      true,
    ],
    [
      'msg_3',
      { input_tokens: 112, cached_input_tokens: 110, cache_creation_tokens: 0, output_tokens: 9 },
      true,
    ],
    [
      'msg_4',
      { input_tokens: 113, cached_input_tokens: 112, cache_creation_tokens: 0, output_tokens: 5 },
      true,
    ],
  ]);
  const sum = { input_tokens: 441, cached_input_tokens: 322, cache_creation_tokens: 110, output_tokens: 59 };
  expect(only(events, 'turn.completed')).toMatchObject([{ usage: sum, duration_ms: 5120 }]);
  expect(only(events, 'thread.completed')).toMatchObject([
    {
      usage: sum,
      subtype: 'success',
      outcome_code: 'success',
      total_cost_usd: 0.0123,
      num_turns: 1,
      result: 'Done.',
    },
  ]);
});

test('two results end two turns, and the thread once, as the last of them says', () => {
  const { events, outcome } = fold(inputOf('two-results'));
  expect(outcome).toBe('complete');
  expect(typesOf(events).filter((type) => /^(?:turn|thread)\./.test(type))).toEqual([
    'thread.started',
    'turn.started',
    'turn.completed',
    'turn.started',
    'turn.failed',
    'thread.completed',
  ]);
  expect(only(events, 'user.message').map(({ origin, content }) => [origin, content])).toEqual([
    ['prompt', [{ type: 'text', text: 'What is in a.txt?' }]],
    ['prompt', [{ type: 'text', text: 'And now in b.txt?' }]],
    ['injected', [{ type: 'text', text: '<system-reminder>Be brief.</system-reminder>' }]],
    ['queued', [{ type: 'text', text: 'Also count the lines.' }]],
  ]);
  expect(only(events, 'interjected')).toMatchObject([{ text: 'Also count the lines.', source: 'direct' }]);
  expect(only(events, 'run.changed')).toEqual([
    { type: 'run.changed', field: 'model', value: 'claude-opus-x' },
  ]);
  expect(only(events, 'thread.completed')).toMatchObject([{ subtype: 'error_max_turns', num_turns: 2 }]);
});

test('what a sub-agent says goes to a session of its own, and its tokens count there only', () => {
  const { events, children, sessionId } = fold(inputOf('sub-agent'));
  const [childId = ''] = [...children.keys()];
  expect(childId).toBe(`${sessionId}.toolu_task`);
  const child = children.get(childId) ?? [];
  expect(typesOf(child).filter((type) => !type.startsWith('item.') && type !== 'run.answer')).toEqual([
    'thread.started',
    'run.started',
    'turn.started',
    'user.message',
    'turn.completed',
  ]);
  expect(only(child, 'run.started')).toMatchObject([
    { agent: 'subagent', cwd: '/srv/work/parser', parent: { session: sessionId, call_id: 'toolu_task' } },
  ]);
  expect(only(child, 'user.message')).toMatchObject([{ origin: 'subagent_prompt' }]);
  expect(only(child, 'turn.completed')).toMatchObject([{ usage: { input_tokens: 44, output_tokens: 7 } }]);
  expect(only(events, 'turn.completed')).toMatchObject([{ usage: { input_tokens: 87, output_tokens: 10 } }]);
  expect(only(events, 'user.message')).toEqual([]);
});

test('interrupts, refusals, compaction, synthetic errors and what is not known', () => {
  const { events, refused, stream } = fold(inputOf('odd'));
  expect(refused).toMatchObject([{ line: 1, reason: 'bad-json' }]);
  expect(only(events, 'run.started')).toMatchObject([{ version: '2.1.12', cwd: '/srv/work/parser' }]);
  expect(only(events, 'run.answer').every(({ reliable }) => reliable === false)).toBe(true);
  expect(only(events, 'thread.compact_boundary')).toMatchObject([
    { trigger: 'auto', mode: 'provider', original_message_count: 3, compacted_message_count: 1 },
  ]);
  expect(only(events, 'user.message').map(({ origin }) => origin)).toEqual([
    'prompt',
    'compact_summary',
    'interrupt',
  ]);
  expect(only(events, 'turn.failed')).toHaveLength(1);
  expect(only(events, 'run.kept').map(({ kind }) => kind)).toEqual([
    'system:hook_started',
    'assistant:new_block',
    'brand_new',
  ]);
  expect(stream.ledger.records).toMatchObject({ 'kept:stream_event': 1, 'kept:brand_new': 1 });
  const items = only(events, 'item.completed').map(({ item }) => item);
  expect(items).toContainEqual({ id: 'msg_s#0', type: 'error', message: 'API Error: 529 overloaded' });
});

test('a stream that ends inside a turn has failed there, with the usage so far, arguments as they were', () => {
  const { events, outcome, stream } = fold(inputOf('cut'));
  expect([outcome, stream.unansweredCount]).toEqual(['in-turn', 1]);
  const last = textOf(events.at(-1)?.event ?? { raw: '' });
  expect(last).toBe(
    '{"type":"turn.failed","message":"stream ended","usage":{"input_tokens":18446744073709551615,"cached_input_tokens":10,"cache_creation_tokens":0,"output_tokens":1}}',
  );
  const call = events.find(({ event }) => textOf(event).includes('Lookup'));
  expect(textOf(call?.event ?? { raw: '' })).toContain(
    '"arguments":{"id": 2512292042121000001, "z":-0, "b":1e400, "1":1.0}',
  );
});

test('the prompt option opens the first turn where the stream does not hold the prompt', () => {
  const { events } = fold(inputOf('one-turn'), { ...plainOptions, prompt: 'Change alpha.' });
  expect(only(events, 'user.message')).toMatchObject([
    { origin: 'prompt', content: [{ type: 'text', text: 'Change alpha.' }] },
  ]);
  expect(only(events, 'turn.started')).toEqual([{ type: 'turn.started' }]);
  const replayed = fold(inputOf('two-results'), { ...plainOptions, prompt: 'What is in a.txt?' });
  expect(only(replayed.events, 'user.message').map(({ origin }) => origin)).toEqual([
    'prompt',
    'prompt',
    'injected',
    'queued',
  ]);
});

test('without a prompt the turn of an answer is implicit', () => {
  expect(only(fold(inputOf('one-turn')).events, 'turn.started')).toEqual([
    { type: 'turn.started', implicit: true },
  ]);
});

test('where the stream says where it runs counts, not where it is recorded', () => {
  const options = { ...plainOptions, workspace: '/elsewhere' };
  const [stated] = only(fold(inputOf('one-turn'), options).events, 'run.started');
  expect([stated?.['cwd'], stated?.['workspace']]).toEqual(['/srv/work/parser', undefined]);
  const silent = linesOf({ type: 'assistant', message: { id: 'm', content: [] }, session_id: 's' });
  const [guessed] = only(fold(silent, options).events, 'run.started');
  expect([guessed?.['cwd'], guessed?.['workspace']]).toEqual(['/elsewhere', '/elsewhere']);
});

test('a record that is sent again is a repeat', () => {
  const input = inputOf('one-turn');
  const once = fold(input);
  const twice = foldInto(openEventStream(plainOptions), Buffer.concat([input, input]));
  expect(twice.events).toEqual(once.events);
  expect(twice.stream.ledger.repeat).toBe(input.length - once.stream.ledger.framing);
});

test('an id that two calls have used gets a number', () => {
  const call = (id: string): object => ({
    type: 'assistant',
    message: { id, content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'a' } }] },
    session_id: 's',
  });
  const answer = {
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }] },
    session_id: 's',
  };
  const { events } = fold(linesOf(call('a'), answer, call('b'), answer));
  const ids = events.flatMap(({ event }) => {
    const { item } = eventOf(event) as { item?: { id: string } };
    return item === undefined ? [] : [item.id];
  });
  expect(ids).toEqual(['toolu_1', 'toolu_1', 'toolu_1~2', 'toolu_1~2']);
});

const session = { session_id: 's' };

function saidBy(type: 'assistant' | 'user', content: unknown, rest: object = {}): object {
  return { type, message: { id: 'm', content }, ...session, ...rest };
}

test('an interrupted turn has failed, whatever its result says', () => {
  const { events } = fold(
    linesOf(
      saidBy('assistant', [{ type: 'text', text: 'a' }]),
      saidBy('user', [{ type: 'text', text: '[Request interrupted by user]' }]),
      { type: 'result', subtype: 'success', is_error: false, ...session },
      saidBy('assistant', [{ type: 'text', text: 'b' }]),
      { type: 'result', subtype: 'success', is_error: false, ...session },
    ),
  );
  expect(only(events, 'turn.failed')).toMatchObject([{ message: 'interrupted' }]);
  expect(only(events, 'turn.completed')).toHaveLength(1);
});

const changes: readonly (readonly [detail: object, isError: boolean, item: object | null])[] = [
  [{ type: 'create' }, false, { changes: [{ path: 'a.txt', kind: 'add' }], diff_incomplete: true }],
  [{ type: 'update' }, false, { changes: [{ path: 'a.txt', kind: 'update' }], diff_incomplete: true }],
  [{}, true, null],
];

test.each(changes)(
  'the change of a file by a call whose result is %j, failed %j',
  (detail, isError, item) => {
    const { events } = fold(
      linesOf(
        saidBy('assistant', [{ type: 'tool_use', id: 't', name: 'Write', input: { file_path: 'a.txt' } }]),
        saidBy('user', [{ type: 'tool_result', tool_use_id: 't', content: 'x', is_error: isError }], {
          tool_use_result: detail,
        }),
      ),
    );
    const found = only(events, 'item.completed').filter((event) =>
      JSON.stringify(event).includes('file_change'),
    );
    expect(found).toMatchObject(item === null ? [] : [{ item }]);
  },
);

const outcomes: readonly (readonly [outcome: string, text: string, isError: boolean, detail: object])[] = [
  ['success', 'fine', false, {}],
  ['error', 'no such file', true, {}],
  ['permission_rejected', "The user doesn't want to proceed with this tool use. It was rejected.", true, {}],
  ['cancelled', '[Request interrupted by user for tool use]', true, {}],
  ['cancelled', 'x', false, { interrupted: true }],
  ['hook_denied', 'PreToolUse:Grep hook error: no', true, {}],
];

test.each(outcomes)('the outcome %s by the result %j', (outcome, text, isError, detail) => {
  const { events } = fold(
    linesOf(
      saidBy('assistant', [{ type: 'tool_use', id: 't', name: 'Grep', input: {} }]),
      saidBy('user', [{ type: 'tool_result', tool_use_id: 't', content: text, is_error: isError }], {
        tool_use_result: detail,
      }),
    ),
  );
  expect(only(events, 'item.completed')[0]).toMatchObject({ item: { type: 'tool_invocation', outcome } });
});

const words: readonly (readonly [origin: string, text: string, rest: object])[] = [
  ['prompt', 'Do it.', {}],
  ['slash_command', '<command-name>/compact</command-name>', {}],
  ['shell_bang', '<bash-input>ls -l</bash-input>', {}],
  ['injected', '<local-command-stdout>x</local-command-stdout>', {}],
  ['injected', 'x', { isMeta: true }],
  ['injected', '<system-reminder>x</system-reminder>', {}],
  ['compact_summary', 'x', { isCompactSummary: true }],
  ['notification', '<task-notification>x</task-notification>', {}],
  ['notification', 'x', { origin: { kind: 'task-notification' } }],
  ['interrupt', '[Request interrupted by user]', {}],
];

test.each(words)('%s is what %j says', (origin, text, rest) => {
  const { events } = fold(linesOf(saidBy('user', text, rest)));
  const opens = ['prompt', 'slash_command', 'shell_bang'].includes(origin);
  expect(only(events, 'user.message')).toMatchObject([{ origin, content: [{ type: 'text', text }] }]);
  expect(only(events, 'turn.started')).toEqual(opens ? [{ type: 'turn.started' }] : []);
});

test('the output of a shell command completes it', () => {
  const { events } = fold(
    linesOf(
      saidBy('user', '<bash-input>ls</bash-input>'),
      saidBy('user', '<bash-stdout>a</bash-stdout><bash-stderr>b</bash-stderr>'),
    ),
  );
  expect(only(events, 'item.completed')).toMatchObject([
    { item: { type: 'command_execution', command: 'ls', aggregated_output: 'ab', status: 'completed' } },
  ]);
});

test('a plan is asked about and answered', () => {
  const ask = saidBy('assistant', [
    { type: 'tool_use', id: 't', name: 'ExitPlanMode', input: { plan: '1. x' } },
  ]);
  const answer = saidBy('user', [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }]);
  const { events } = fold(linesOf(ask, answer));
  expect(only(events, 'item.updated')).toMatchObject([{ item: { id: 'plan', type: 'plan', text: '1. x' } }]);
  expect(only(events, 'plan.approval.requested')).toMatchObject([{ thread_id: 's', turn_id: 'turn-1' }]);
  expect(only(events, 'plan.approval.resolved')).toMatchObject([{ decision: 'execute', automatic: false }]);
});

test('what is kept is cut below 64 KiB, and no pair of surrogates is split', () => {
  const { events } = fold(
    linesOf({ type: 'system', subtype: 'new', v: '\u{1F600}'.repeat(40_000), ...session }),
  );
  const [kept] = only(events, 'run.kept');
  const raw = String(kept?.['raw']);
  expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(65_536);
  expect(raw.length).toBeGreaterThan(10_000);
  expect(Buffer.from(raw).toString()).toBe(raw);
});

test('a result without its call is written all the same', () => {
  const answer = {
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 'toolu_9', content: 'x', is_error: true }] },
    session_id: 's',
  };
  const { events } = fold(linesOf(answer));
  expect(only(events, 'item.completed')).toEqual([
    {
      type: 'item.completed',
      item: {
        id: 'toolu_9:output',
        type: 'tool_output',
        call_id: 'toolu_9',
        tool_call_id: 'toolu_9',
        output: 'x',
        status: 'failed',
      },
    },
  ]);
});

test('members removed, null or of another type lose no neighbour and no byte of the account', () => {
  const random = new SeededRandom(11);
  for (let round = 0; round < 600; round += 1) {
    const name = cases[random.below(cases.length)] ?? '';
    const lines = new TextDecoder().decode(inputOf(name)).split('\n').filter(Boolean);
    const bytes = linesOf(...lines.map((line) => (random.below(3) === 0 ? changedLine(line, random) : line)));
    const { events, children, stream } = fold(bytes);
    expect(stream.ledger.bytes).toBe(bytes.length);
    const texts = [events, ...children.values()].flat().map(({ event }) => textOf(event));
    for (const text of texts) expect(encodeRawEvent(text).type).not.toBe('');
  }
});

/** A line with one member, at any depth, replaced by something else; type and session stay, or it were another stream. */
function changedLine(line: string, random: SeededRandom): string {
  if (!line.startsWith('{')) return line;
  const whole = JSON.parse(line) as Record<string, unknown>;
  let holder: Record<string, unknown> = whole;
  for (;;) {
    const names = Object.keys(holder).filter(
      (name) => holder !== whole || !/^(?:type|session_id)$/.test(name),
    );
    const name = names[random.below(Math.max(names.length, 1))];
    if (name === undefined) return line;
    const inner = holder[name];
    if (typeof inner !== 'object' || inner === null || random.below(3) === 0) {
      holder[name] = [undefined, null, 7, 'x', [], {}, [[]], true][random.below(8)];
      return JSON.stringify(whole);
    }
    holder = inner as Record<string, unknown>;
  }
}
