import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { knownEventNames } from '@turnlog/events';
import type { LogReader } from '@turnlog/log';
import {
  countTokens,
  documentsOf,
  earlierItemsOf,
  type ReadingPlace,
  type RecordDocument,
  readQueryText,
  type SearchDocument,
  sessionInfoOf,
} from '@turnlog/search';
import { frameOf, item, line, logOf, sharedBytes, withLog } from './logs.js';

const golden = readFileSync(join(__dirname, '../../../test/golden/wire/golden.jsonl'));

function answersIn(reader: LogReader): readonly RecordDocument[] {
  return [...documentsOf(reader.history(), { session: reader.sessionId })];
}

async function answersOf(log: Uint8Array | string): Promise<readonly RecordDocument[]> {
  return await withLog(log, answersIn);
}

/** Behind the first `count` records. */
function placeBehind(answers: readonly RecordDocument[], count: number): ReadingPlace {
  const last = answers[count - 1]?.record;
  return { seq: last?.seq ?? 0, offset: last?.end ?? 0 };
}

/** What counts once all is read. */
function live(answers: readonly RecordDocument[]): readonly SearchDocument[] {
  const superseded = new Set(answers.map(({ supersededSeq }) => supersededSeq));
  return answers.flatMap(({ document }) =>
    document === null || superseded.has(document.seq) ? [] : [document],
  );
}

const brief = ({ role, kind, tool, text: own }: SearchDocument): readonly unknown[] => [
  role,
  kind,
  tool,
  own,
];

/** The one document of one event. */
async function documentOf(event: object): Promise<SearchDocument | null> {
  const [answer] = await answersOf(logOf([event]));
  return answer?.document ?? null;
}

/** What the golden log holds, by seq: every event and every item of the contract is in it. */
const goldenDocuments: readonly (readonly [number, ...unknown[]])[] = [
  [43, 'user', 'goal', null, 'Make the lexer accept tabs'],
  [44, 'user', 'message', null, 'Please make the lexer accept tabs.\nSee the screenshot.\nscreen.png'],
  [47, 'agent', 'message', null, 'I will read the lexer first. Größe: 5 µm, 語, 🦊'],
  [48, 'agent', 'plan', null, '1. Read lexer\n2. Add tab case\n3. Run tests'],
  [49, 'agent', 'reasoning', null, 'Whitespace is matched by one class only.'],
  [50, 'agent', 'decision', null, 'Extend the class\nOne character, no new state\nSeparate tab rule'],
  [51, 'tool', 'command', null, 'pnpm test lexer\n--bail\n12 passed\n'],
  [52, 'tool', 'tool_call', 'read_file', 'read_file\nsrc/lexer.ts\n200'],
  [53, 'tool', 'tool_output', 'read_file', 'const WS = /[ ]/;\n'],
  [54, 'tool', 'file_change', null, 'src/lexer.ts\ntest/tab.test.ts\nold/ws.ts'],
  [55, 'tool', 'tool_call', 'issues.search', 'issues.search\ntab\n2 found'],
  [56, 'tool', 'web_search', null, 'unicode whitespace list\nfirst\nsecond'],
  [57, 'system', 'harness', null, 'watcher ended\npnpm watch\n/srv/work/parser\nnone'],
  [58, 'system', 'error', null, 'warning: retried once'],
  [59, 'unknown', 'unknown', null, 'i11\nhologram'],
  [62, 'user', 'message', null, 'keep CRLF too'],
  [69, 'system', 'error', null, 'stream closed, reconnected'],
  [72, 'system', 'error', null, 'too many refused calls'],
  [73, 'system', 'error', null, 'blocked'],
  [79, 'system', 'summary', null, 'file update: src/lexer.ts\nTests pass\nThree turns on the lexer.'],
  [
    85,
    'unknown',
    'unknown',
    null,
    'x.acme.note\napplication event with "quotes", \\ and a line separator \u2028 inside',
  ],
  [86, 'agent', 'result', null, 'Tabs are accepted.'],
];

const text = (value: string): object => ({ type: 'text', text: value });
const said = (origin: string): object => ({ type: 'user.message', id: 'u', origin, content: [text('word')] });

/** Rows of events that are not in the golden log. */
const rows: readonly (readonly [object, ...unknown[]])[] = [
  [said('prompt'), 'user', 'message', null, 'word'],
  [said('queued'), 'user', 'message', null, 'word'],
  [said('slash_command'), 'user', 'message', null, 'word'],
  [said('shell_bang'), 'user', 'message', null, 'word'],
  [said('subagent_prompt'), 'agent', 'message', null, 'word'],
  [said('interrupt'), 'system', 'context', null, 'word'],
  [said('compact_summary'), 'system', 'context', null, 'word'],
  [said('notification'), 'system', 'context', null, 'word'],
  [said('injected'), 'system', 'context', null, 'word'],
  [said('of a later version'), 'system', 'context', null, 'word'],
  [{ type: 'journal.summary', summary: { text: 'so far' } }, 'system', 'summary', null, 'so far'],
  [
    { type: 'memory.saved', claims: [{ text: 'one' }, { text: 'two' }] },
    'memory',
    'memory',
    null,
    'one\ntwo',
  ],
  [{ type: 'memory.revised', claims: [{ text: 'three' }], reason: 'r' }, 'memory', 'memory', null, 'three'],
  [
    { type: 'memory.consolidated', ops: [{ claims: [{ text: 'a' }] }, { claims: [{ text: 'b' }] }] },
    'memory',
    'memory',
    null,
    'a\nb',
  ],
  [{ type: 'memory.noted', summary: 's', detail: 'd' }, 'memory', 'memory', null, 's\nd'],
  [
    { type: 'knowledge.versioned', key: 'build', content: 'pnpm' },
    'memory',
    'knowledge',
    null,
    'build\npnpm',
  ],
  [{ type: 'chronicle.summarized', title: 't', text: 'x' }, 'memory', 'chronicle', null, 't\nx'],
  [{ type: 'wiki.revised', title: 't', content: 'c', slug: 'no' }, 'memory', 'wiki', null, 't\nc'],
  [{ type: 'skill.revised', name: 'n', body: 'b' }, 'memory', 'skill', null, 'n\nb'],
  [
    { type: 'memory.of_a_later_version', text: 'x' },
    'unknown',
    'unknown',
    null,
    'memory.of_a_later_version\nx',
  ],
  [
    item('completed', {
      id: 'c',
      type: 'file_change',
      status: 'completed',
      changes: [{ path: 'a\\b\\..\\c.ts', kind: 'update' }],
      unified_diff: '--- a/c.ts\n+++ b/c.ts\n@@ -1,2 +1,2 @@\n kept\n-was\n+is\n',
    }),
    'tool',
    'file_change',
    null,
    'a\\b\\..\\c.ts\n-was\n+is',
  ],
];

test('Q-3 each event and item gives its row and no other; unknown types are found; an item has one live document', async () => {
  const documents = live(await answersOf(golden));
  expect(documents.map((document) => [document.seq, ...brief(document)])).toEqual(goldenDocuments);
  for (const [event, ...row] of rows) {
    const document = await documentOf(event);
    expect(document === null ? null : brief(document)).toEqual(row);
  }
  // What has no row is known and not searched, whatever it says.
  const searched = new Set(
    [...rows, ...(await answersOf(golden)).filter(({ document }) => document !== null)].map((entry) =>
      typeOf(entry),
    ),
  );
  for (const type of knownEventNames.filter((name) => !searched.has(name))) {
    expect([type, await documentOf({ type, text: 'x', title: 'x', message: 'x' })]).toEqual([type, null]);
  }
  const unknown = documents.filter(({ kind }) => kind === 'unknown');
  for (const [asked, index] of [
    ['hologram', 0],
    ['x.acme.note', 1],
  ] as const) {
    const [token] = readQueryText(asked).tokens;
    expect(countTokens(unknown[index]?.text ?? '').terms.has(token?.text ?? '')).toBe(true);
  }
  const growing = ['started', 'updated', 'updated', 'completed'].map((event, index) =>
    item(event, { id: 'm', type: 'agent_message', text: `word ${index}` }),
  );
  const answers = await answersOf(logOf(growing));
  expect(answers.map(({ supersededSeq }) => supersededSeq)).toEqual([null, 1, 2, 3]);
  expect(live(answers).map(({ text: last, itemId }) => [last, itemId])).toEqual([['word 3', 'm']]);
});

function typeOf(entry: readonly [object, ...unknown[]] | RecordDocument): unknown {
  return 'record' in entry ? entry.record.type : Reflect.get(entry[0], 'type');
}

test('an id that is used again is a new item; a snapshot without text takes the earlier text away', async () => {
  const message = (event: string, said: string): object =>
    item(event, { id: 'm', type: 'agent_message', text: said });
  const answers = await answersOf(
    logOf([
      message('started', 'a'),
      message('completed', 'b'),
      message('started', 'c'),
      message('completed', ''),
      message('started', 'd'),
      message('updated', ''),
      message('updated', 'e'),
    ]),
  );
  expect(answers.map(({ supersededSeq }) => supersededSeq)).toEqual([null, 1, null, 3, null, 5, null]);
  expect(live(answers).map(({ text: last }) => last)).toEqual(['b', 'e']);
});

test('a resumed reading answers as one from the start, with what an index knows of the items before', async () => {
  const call = (event: string, id: string, name: string): object =>
    item(event, { id, type: 'tool_invocation', tool_name: name, arguments: { n: 1 }, status: 'completed' });
  const output = (id: string): object =>
    item('completed', {
      id: `${id}:output`,
      type: 'tool_output',
      call_id: id,
      output: 'o',
      status: 'completed',
    });
  const log = logOf([
    call('started', 'i', 'old'),
    call('completed', 'i', 'old'),
    output('i'),
    call('started', 'i', 'new'),
    output('i'),
    call('updated', 'j', 'other'),
    call('completed', 'i', 'new'),
    output('j'),
    call('started', 'j', 'other'),
    output('gone'),
  ]);
  await withLog(log, (reader) => {
    const whole = answersIn(reader);
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const documents = live(whole.slice(0, cut));
      const find = (itemId: string): { seq: number; tool: string | null } | null =>
        documents.findLast((document) => document.itemId === itemId) ?? null;
      const rest = documentsOf(reader.readRange(cut + 1, 99), {
        session: 'case',
        earlier: earlierItemsOf(reader, placeBehind(whole, cut), find),
      });
      const told = ({ document, supersededSeq }: RecordDocument): unknown => [document, supersededSeq];
      expect([...rest].map(told)).toEqual(whole.slice(cut).map(told));
    }
    expect(live(whole).map(({ seq, tool }) => [seq, tool])).toEqual([
      [2, 'old'],
      [5, 'new'],
      [7, 'new'],
      [8, 'other'],
      [9, 'other'],
      [10, null],
    ]);
  });
});

test('members of a frame without commit, or of a broken one, and what is too deep give no document', async () => {
  const message = (id: string): object => item('completed', { id, type: 'agent_message', text: id });
  const deep = `{"type":"agent_message","id":"d","text":"deep","more":${'['.repeat(600)}${']'.repeat(600)}}`;
  const log = [
    frameOf(1, [message('whole')]),
    frameOf(4, [message('broken')], '0'.repeat(64)),
    `{"schema_version":"0.18.0","seq":7,"event":{"type":"item.completed","item":${deep}}}\n`,
    line(8, message('after')),
    frameOf(9, [message('unfinished')])
      .split('\n')
      .slice(0, 2)
      .join('\n'),
    '\n',
  ].join('');
  const answers = await answersOf(log);
  expect(live(answers).map(({ text: known }) => known)).toEqual(['whole', 'after']);
  expect(answers.map(({ record, isSettled }) => [record.seq, isSettled])).toEqual([
    [1, false],
    [2, false],
    [3, true],
    [7, true],
    [8, true],
  ]);
});

test('digits are those that are stored, names that every object has are names, and both are found', async () => {
  const [numbers, names] = ['B44-big-integers', 'B46-proto-keys'].map((name) =>
    sharedBytes('case', `${name}/events.jsonl`),
  );
  if (numbers === null || names === null || numbers === undefined || names === undefined) return;
  const [document] = live(await answersOf(numbers));
  expect(document?.text.split('\n')).toEqual([
    'lookup',
    '2512292042121000001',
    '1e400',
    '-0',
    '1.0',
    '9007199254740991',
  ]);
  const found = live(await answersOf(names));
  const asked = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  expect(found.map(({ tool }) => tool)).toEqual(asked);
  found.forEach(({ text: own }, index) => {
    const [token] = readQueryText(asked[index] ?? '').tokens;
    expect(countTokens(own).terms.has(token?.text ?? '')).toBe(true);
  });
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('half a pair of surrogates and bytes that are no UTF-8 read as U+FFFD', async () => {
  const log = Buffer.from(
    '{"schema_version":"0.18.0","seq":1,"event":{"type":"item.completed","item":{"id":"i","type":"tool_invocation",' +
      '"tool_name":"t\\ud800","arguments":{"path":"a\\udc00/b","b":"x\xff\xfey","c":"\\ud83d\\ude80"},"status":"completed"}}}\n',
    'latin1',
  );
  const [document] = live(await answersOf(log));
  expect(document).toMatchObject({
    tool: 't\ufffd',
    text: 't\ufffd\na\ufffd/b\nx\ufffd\ufffdy\n🚀',
    paths: ['a\ufffd/b'],
  });
});

test('of unknown types strings down to level 8, and 8 KiB of them, whole code points', async () => {
  const nested = (levels: number): unknown => (levels === 0 ? 'leaf' : { in: nested(levels - 1) });
  const at = async (levels: number): Promise<string | undefined> =>
    (await documentOf({ type: 'x.a.b', deep: nested(levels), n: 17, list: [true, null, 'l'] }))?.text;
  expect(await at(7)).toBe('x.a.b\nleaf\nl');
  expect(await at(8)).toBe('x.a.b\nl');
  const long = await documentOf({ type: 'x.a.b', long: '語'.repeat(4_000) });
  expect(Buffer.byteLength(long?.text ?? '')).toBe(8_192 - ((8_192 - 6) % 3));
});

test('fields: turn and time, null where they are not known; what is left out of a long text is counted', async () => {
  const output = {
    id: 'o',
    type: 'tool_output',
    call_id: 'none',
    output: 'x'.repeat(1_048_577),
    status: 'completed',
  };
  const log = [
    line(1, { type: 'turn.started' }),
    line(2, item('completed', output)),
    line(3, { type: 'turn.failed', message: 'm' }, null),
    line(4, { type: 'error', message: 'outside' }),
  ].join('');
  const documents = live(await answersOf(log));
  expect(documents.map(({ text: _, ...fields }) => fields)).toEqual([
    {
      session: 'case',
      seq: 2,
      turn: 1,
      tsMs: Date.UTC(2026, 0, 5, 10, 0, 2),
      role: 'tool',
      kind: 'tool_output',
      tool: null,
      paths: [],
      unindexedBytes: 1,
      itemId: 'o',
    },
    {
      session: 'case',
      seq: 3,
      turn: 1,
      tsMs: null,
      role: 'system',
      kind: 'error',
      tool: null,
      paths: [],
      unindexedBytes: 0,
      itemId: null,
    },
    {
      session: 'case',
      seq: 4,
      turn: null,
      tsMs: Date.UTC(2026, 0, 5, 10, 0, 4),
      role: 'system',
      kind: 'error',
      tool: null,
      paths: [],
      unindexedBytes: 0,
      itemId: null,
    },
  ]);
  expect(documents[0]?.text.length).toBe(1_048_576);
});

test('a session says where it ran and how', async () => {
  const run = (more: object): object => ({ type: 'run.started', program: 'p', cwd: '/w/a', ...more });
  const info = async (...runs: readonly object[]): Promise<unknown> =>
    await withLog(logOf(runs), sessionInfoOf);
  expect(await info()).toEqual({ session: 'case', workspaces: [], agent: 'primary' });
  expect(await info(run({ agent: 'subagent' }), run({ workspace: '/w/b', agent: 'primary' }))).toEqual({
    session: 'case',
    workspaces: ['/w/a', '/w/b'],
    agent: 'subagent',
  });
  expect(await info(run({ agent: 'of a later version' }))).toMatchObject({ agent: 'primary' });
});
