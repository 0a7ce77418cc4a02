import { encodeRawEvent } from '@turnlog/events';
import { sha256Hex } from '@turnlog/kernel';
import { SeededRandom } from '@turnlog/testkit';
import { openEventStream } from '../src/index.js';
import { eventOf, fold, foldInto, linesOf, plainOptions, textOf, typesOf } from './stream-lines.js';

const thread = { type: 'thread.started', thread_id: 't-1' };
const turn = { type: 'turn.started' };
const done = {
  type: 'turn.completed',
  usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 3 },
};

function message(id: string, text: string): object {
  return { type: 'item.completed', item: { id, type: 'agent_message', text } };
}

function run(text: string): Uint8Array {
  return linesOf(thread, turn, message('item_0', text), done);
}

/** Folds a stream that goes on in a session holding `earlier`, as a recorder does. */
function foldBehind(earlier: readonly Uint8Array[], next: Uint8Array): ReturnType<typeof fold> {
  const before = fold(Buffer.concat(earlier));
  const stream = openEventStream(plainOptions);
  const keys = new Set(before.events.map(({ key }) => key));
  const runCount = typesOf(before.events).filter((type) => type === 'thread.started').length;
  const end = next.indexOf(0x0a);
  const first = stream.push(next.subarray(0, end));
  expect(first).toMatchObject({ sessionId: 'codex-t-1', events: [] });
  stream.continueFrom({ runCount, hasKey: (key) => keys.has(key) });
  return foldInto(stream, next.subarray(end + 1));
}

test('a run becomes a thread, a run, a turn and its items; the first line may be no JSON', () => {
  const lines = linesOf('Reading prompt from stdin...', thread, turn, message('item_0', 'hi'), done);
  const { events, refused, sessionId, outcome } = fold(lines, { ...plainOptions, workspace: '/srv/w' });
  expect(events.map(({ event }) => eventOf(event))).toEqual([
    thread,
    { type: 'run.started', program: 'codex', cwd: '/srv/w', workspace: '/srv/w', agent: 'headless' },
    { type: 'turn.started', prompt_missing: true },
    message('item_0', 'hi'),
    {
      type: 'turn.completed',
      usage: { input_tokens: 10, cached_input_tokens: 4, cache_creation_tokens: 0, output_tokens: 3 },
    },
  ]);
  expect(refused).toMatchObject([{ line: 1, reason: 'bad-json' }]);
  expect([sessionId, outcome]).toEqual(['codex-t-1', 'complete']);
});

test('the prompt option opens the first turn', () => {
  const { events } = fold(Buffer.concat([run('a'), run('b')]), { ...plainOptions, prompt: 'do it' });
  const values = events.map(({ event }) => eventOf(event));
  expect(values.filter(({ type }) => type === 'user.message')).toEqual([
    { type: 'user.message', id: 'prompt', origin: 'prompt', content: [{ type: 'text', text: 'do it' }] },
  ]);
  expect(values.filter(({ type }) => type === 'turn.started')).toEqual([
    { type: 'turn.started' },
    { type: 'turn.started', prompt_missing: true },
  ]);
});

interface ItemRow {
  readonly name: string;
  readonly item: string;
  readonly ours: string;
}

const items: readonly ItemRow[] = [
  {
    name: 'a command',
    item: '{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"a\\n","exit_code":0,"status":"completed"}',
    ours: '{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"a\\n","exit_code":0,"status":"completed"}',
  },
  {
    name: 'a change of files without a diff',
    item: '{"id":"item_1","type":"file_change","changes":[{"path":"a","kind":"add"}],"status":"completed"}',
    ours: '{"id":"item_1","type":"file_change","diff_incomplete":true,"changes":[{"path":"a","kind":"add"}],"status":"completed"}',
  },
  {
    name: 'an MCP call, its arguments as they stand there',
    item: '{"id":"item_1","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"n":2512292042121000001,"z":-0},"result":{"content":[{"type":"text","text":"one"},{"type":"image","data":"x"}],"structured_content":null},"error":null,"status":"completed"}',
    ours: '{"id":"item_1","type":"mcp_tool_call","tool_name":"t","arguments":{"n":2512292042121000001,"z":-0},"result":"one\\n{\\"type\\":\\"image\\",\\"data\\":\\"x\\"}","status":"completed","server":"s","error":null}',
  },
  {
    name: 'an MCP call that has just begun',
    item: '{"id":"item_1","type":"mcp_tool_call","server":"s","tool":"t","arguments":null,"result":null,"status":"in_progress"}',
    ours: '{"id":"item_1","type":"mcp_tool_call","tool_name":"t","arguments":null,"status":"started","server":"s"}',
  },
  {
    name: 'an MCP call that failed',
    item: '{"id":"item_1","type":"mcp_tool_call","server":"s","tool":"t","result":null,"error":{"message":"no"},"status":"failed"}',
    ours: '{"id":"item_1","type":"mcp_tool_call","tool_name":"t","result":"no","status":"failed","server":"s","error":{"message":"no"}}',
  },
  {
    name: 'a to-do list',
    item: '{"id":"item_1","type":"todo_list","items":[{"text":"a","completed":true},{"text":"b","completed":false}]}',
    ours: '{"id":"item_1","type":"plan","text":"[x] a\\n[ ] b"}',
  },
  {
    name: 'a web search with members nobody knows',
    item: '{"id":"item_1","type":"web_search","query":"q","action":{"kind":"open"},"__proto__":1}',
    ours: '{"id":"item_1","type":"web_search","query":"q","action":{"kind":"open"},"__proto__":1}',
  },
];

test.each(items)('$name', ({ item, ours }) => {
  const line = `{"type":"item.completed","item":${item}}`;
  const { events, stream } = fold(linesOf(thread, turn, line, done));
  expect(textOf(events[3]?.event ?? { raw: '' })).toBe(`{"type":"item.completed","item":${ours}}`);
  expect(stream.ledger).toMatchObject({ kept: 0, refused: 0 });
});

test('what has no event of ours is kept whole and counted', () => {
  const lines = linesOf(
    thread,
    turn,
    { type: 'x.new', a: 1 },
    { type: 'item.completed', item: { id: 'i', type: 'newer' } },
    done,
  );
  const { events, stream } = fold(lines);
  const kept = events.map(({ event }) => eventOf(event)).filter(({ type }) => type === 'run.kept');
  expect(kept).toEqual([
    { type: 'run.kept', kind: 'x.new', why: 'unknown-type', raw: '{"type":"x.new","a":1}' },
    {
      type: 'run.kept',
      kind: 'item:newer',
      why: 'unknown-type',
      raw: '{"type":"item.completed","item":{"id":"i","type":"newer"}}',
    },
  ]);
  expect(stream.ledger.records).toMatchObject({ 'kept:x.new': 1, 'kept:item:newer': 1 });
});

test('failures, errors, plan deltas and a usage that is not there', () => {
  const { events } = fold(
    linesOf(
      thread,
      { type: 'error', message: 'Reconnecting... 1/5' },
      turn,
      { type: 'item.plan.delta', item_id: 'item_0', delta: 'x' },
      { type: 'turn.failed', error: { message: 'no network' } },
      turn,
      { type: 'turn.completed', usage: null },
    ),
  );
  expect(events.slice(2).map(({ event }) => textOf(event))).toEqual([
    '{"type":"error","message":"Reconnecting... 1/5"}',
    '{"type":"turn.started","prompt_missing":true}',
    '{"type":"plan.delta","thread_id":"t-1","turn_id":"","item_id":"item_0","delta":"x"}',
    '{"type":"turn.failed","message":"no network","without_usage":true}',
    '{"type":"turn.started","prompt_missing":true}',
    '{"type":"turn.completed","usage":{"input_tokens":0,"cached_input_tokens":0,"cache_creation_tokens":0,"output_tokens":0},"without_usage":true}',
  ]);
});

test('items outside a turn open one, and a stream without a thread gets an id of its own', () => {
  const { events, sessionId } = fold(linesOf(message('item_0', 'a'), done));
  expect(typesOf(events)).toEqual([
    'thread.started',
    'run.started',
    'turn.started',
    'item.completed',
    'turn.completed',
  ]);
  expect(eventOf(events[2]?.event ?? { raw: '{}' })).toEqual({ type: 'turn.started', implicit: true });
  expect(sessionId).toMatch(/^codex-[0-9a-f]{32}$/);
  expect(eventOf(events[1]?.event ?? { raw: '{}' })).toMatchObject({ derived: ['thread_id'] });
});

test('a hostile thread id is no session id', () => {
  const { sessionId } = fold(linesOf({ type: 'thread.started', thread_id: '../../etc' }, turn));
  expect(sessionId).toMatch(/^codex-x[0-9a-f]{32}$/);
});

test('calls without a result stay started and are counted', () => {
  const call = { id: 'item_0', type: 'command_execution', command: 'ls', status: 'in_progress' };
  const { stream } = fold(linesOf(thread, turn, { type: 'item.started', item: call }, done));
  expect(stream.unansweredCount).toBe(1);
});

test('two objects on one line both count', () => {
  const { events } = fold(
    linesOf(thread, `${JSON.stringify(turn)}${JSON.stringify(message('item_0', 'a'))}`, done),
  );
  expect(typesOf(events)).toEqual([
    'thread.started',
    'run.started',
    'turn.started',
    'item.completed',
    'turn.completed',
  ]);
});

test('a stream sent again has the same keys, and no two events share one', () => {
  const lines = Buffer.concat([run('a'), run('b'), run('a')]);
  const keys = fold(lines).events.map(({ key }) => key);
  expect(fold(lines).events.map(({ key }) => key)).toEqual(keys);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(key).toMatch(/^im1:[A-Za-z0-9_-]{22}$/);
});

test('item ids of later runs get the number of the run in front', () => {
  const ids = (bytes: Uint8Array): readonly unknown[] =>
    fold(bytes).events.flatMap(({ event }) => {
      const { item } = eventOf(event) as { item?: { id: string } };
      return item === undefined ? [] : [item.id];
    });
  expect(ids(Buffer.concat([run('a'), run('b'), run('c')]))).toEqual(['item_0', 'r2.item_0', 'r3.item_0']);
});

test('a resumed thread goes on behind the runs of its session', () => {
  const together = fold(Buffer.concat([run('a'), run('b')]));
  const resumed = foldBehind([run('a')], run('b'));
  expect(resumed.events).toEqual(together.events.slice(5));
});

test('a stream that its session already holds, whole or in part, keeps its keys', () => {
  const together = fold(Buffer.concat([run('a'), run('b')]));
  for (const [text, from, to] of [
    ['a', 0, 5],
    ['b', 5, 10],
  ] as const) {
    const again = foldBehind([run('a'), run('b')], run(text));
    expect(again.events).toEqual(together.events.slice(from, to));
  }
});

test('a stream that ends inside a turn has failed there', () => {
  const { events, outcome } = fold(linesOf(thread, turn, message('item_0', 'a')));
  expect(outcome).toBe('in-turn');
  expect(textOf(events.at(-1)?.event ?? { raw: '' })).toBe('{"type":"turn.failed","message":"stream ended"}');
});

test('what is emitted for a beginning is a beginning of what is emitted for the whole', () => {
  const whole = Buffer.concat([run('a'), linesOf({ type: 'x.new' }, 'no json'), run('b')]);
  const all = fold(whole).events;
  const random = new SeededRandom(7);
  for (let round = 0; round < 200; round += 1) {
    const cut = random.below(whole.length + 1);
    const stream = openEventStream(plainOptions);
    const events = [];
    let start = 0;
    for (let end = whole.indexOf(0x0a); end !== -1 && end < cut; end = whole.indexOf(0x0a, start)) {
      events.push(...stream.push(whole.subarray(start, end)).events);
      start = end + 1;
    }
    expect(events).toEqual(all.slice(0, events.length));
  }
});

test('the same records come from pieces of 1, 7 and 65,536 bytes', () => {
  const whole = Buffer.concat([linesOf('\uFEFFno json'), run('a'), run('\u2028 \u0085')]);
  const [first, ...others] = [1, 7, 65_536].map((piece) => {
    const { events, refused, stream } = fold(whole, plainOptions, piece);
    return { events, refused, ledger: stream.ledger };
  });
  for (const other of others) expect(other).toEqual(first);
  expect(first?.ledger.bytes).toBe(whole.length);
});

test('every event of a file says which bytes it came from', () => {
  const bytes = linesOf(
    'no json',
    thread,
    `${JSON.stringify(turn)} ${JSON.stringify(message('item_0', 'a'))}`,
    done,
  );
  const source = { file: 'f1', path: '/x/run.jsonl', name: 'run.jsonl' };
  const { events } = fold(bytes, { ...plainOptions, source });
  const lines = new TextDecoder().decode(bytes).split('\n');
  for (const { event } of events) {
    const { src } = eventOf(event) as {
      src: { file: string; line: number; offset: number; bytes: number; sha256: string };
    };
    const object = bytes.subarray(src.offset, src.offset + src.bytes);
    expect(lines[src.line - 1]).toContain(new TextDecoder().decode(object));
    expect(sha256Hex(object)).toBe(src.sha256);
  }
  expect(eventOf(events[2]?.event ?? { raw: '{}' })).toMatchObject({
    type: 'run.source',
    file: 'f1',
    format: 'codex-exec',
    path: '/x/run.jsonl',
    name: 'run.jsonl',
  });
});

test('members removed, null or of another type cost no other record and no byte of the account', () => {
  const lines = [
    thread,
    turn,
    {
      type: 'item.started',
      item: { id: 'a', type: 'command_execution', command: 'ls', status: 'in_progress' },
    },
    {
      type: 'item.completed',
      item: {
        id: 'b',
        type: 'mcp_tool_call',
        server: 's',
        tool: 't',
        arguments: {},
        result: { content: [{ type: 'text', text: 'x' }] },
      },
    },
    { type: 'item.completed', item: { id: 'c', type: 'todo_list', items: [{ text: 'x', completed: true }] } },
    { type: 'item.completed', item: { id: 'd', type: 'file_change', changes: [] } },
    done,
  ];
  const odd = [null, 7, 'text', [], {}, true, undefined];
  for (const [position, line] of lines.entries()) {
    for (const name of Object.keys(line).filter((each) => each !== 'type')) {
      for (const value of odd) {
        const changed = lines.with(position, { ...line, [name]: value });
        closes(linesOf(...changed));
      }
    }
    const { item } = line as { item?: object };
    for (const name of Object.keys(item ?? {})) {
      for (const value of odd)
        closes(linesOf(...lines.with(position, { ...line, item: { ...item, [name]: value } } as never)));
    }
  }
});

function closes(bytes: Uint8Array): void {
  const { stream, events } = fold(bytes);
  const { bytes: counted, mapped, kept, refused } = stream.ledger;
  expect([counted, mapped + kept + refused]).toEqual([bytes.length, bytes.length]);
  // A log takes every one of them.
  for (const { event } of events) expect(encodeRawEvent(textOf(event)).type).not.toBe('');
  expect(typesOf(events)).toContain('turn.completed');
}
