import { type Planted, plantSecrets, readings } from '@turnlog/testkit';
import { storedLines, TestProgram } from './support.js';

const planted = plantSecrets(1_000, 29);

/** Where a text that can be found may stand, a record for each. */
const places: readonly ((text: string, at: number) => object)[] = [
  (text, at) => ({ id: `i${at}`, type: 'agent_message', text: `needle ${text}` }),
  (text, at) => ({
    id: `i${at}`,
    type: 'tool_invocation',
    tool_name: text.slice(0, 200),
    status: 'completed',
    arguments: { input: `needle ${text}`, path: `src/${text.slice(0, 200)}` },
  }),
  (text, at) => ({ id: `i${at}`, type: 'tool_output', output: `needle\n${text}`, status: 'completed' }),
  (text, at) => ({
    id: `i${at}`,
    type: 'file_change',
    status: 'completed',
    changes: [{ path: 'src/needle.ts', kind: 'add' }],
    unified_diff: `--- /dev/null\n+++ b/src/needle.ts\n@@ -0,0 +1,1 @@\n+needle ${text.replaceAll('\n', ' ')}\n`,
  }),
  (text, at) => ({
    id: `i${at}`,
    type: 'command_execution',
    command: `needle src/needle.ts ${text}`,
    aggregated_output: text,
    status: 'completed',
  }),
];

/** A session in which every secret stands in a record of its own, beside a word that is searched for. */
function programWith(secrets: readonly Planted[]): TestProgram {
  const program = new TestProgram();
  const items = secrets.map(({ text }, at) => ({
    type: 'item.completed',
    item: places[at % places.length]?.(text, at) ?? {},
  }));
  const [first, second] = secrets.map(({ text }) => text.replaceAll('\n', ' '));
  program.plant(
    's-1',
    storedLines([
      {
        type: 'run.started',
        program: 'p',
        version: '1',
        cwd: `/w/${first}`,
        workspace: `/w/${first}`,
        agent: 'primary',
      },
      { type: 'journal.set', title: `about ${second}` },
      { type: 'turn.started', context: { goal: `needle ${first}` } },
      ...items,
    ]),
  );
  return program;
}

function foundIn(text: string): readonly string[] {
  const texts = readings(text);
  return planted.flatMap(({ kind, name, secrets }) =>
    secrets.filter((part) => texts.some((each) => each.includes(part))).map(() => `${kind}, ${name}`),
  );
}

const pagesMax = 40;

/** What a list says, page by page. */
async function everyPage(program: TestProgram, argv: readonly string[], form: string): Promise<string> {
  let said = '';
  let cursor: readonly string[] = [];
  for (let page = 0; page < pagesMax; page += 1) {
    const { stdout, stderr } = await program.run([...argv, ...(form === '' ? [] : [form]), ...cursor]);
    said += stdout + stderr;
    const next = /"next_cursor":"([^"]+)"|--cursor (\S+)/.exec(stdout + stderr);
    if (next === null) return said;
    cursor = ['--cursor', next[1] ?? next[2] ?? ''];
  }
  throw new Error('the pages do not end');
}

const lists: readonly (readonly [name: string, argv: readonly string[], least: number])[] = [
  ['search', ['search', 'needle', '--limit', '100', '--facets', '--explain'], 900],
  ['blame', ['blame', 'src/needle.ts', '--reads', '--mentions', '--limit', '500'], 300],
];

test.each(lists)(
  'CL-24, I-19: of 1,000 planted secrets none comes out of the pages of %s',
  async (_name, argv, least) => {
    const program = programWith(planted);
    for (const form of ['', '--json', '--jsonl']) {
      const said = await everyPage(program, argv, form);
      expect(new Set(said.match(/s-1:\d+|"seq":\d+/g)).size).toBeGreaterThan(least);
      expect(foundIn(said)).toEqual([]);
    }
  },
  120_000,
);

test('CL-24, I-19: of 1,000 planted secrets none comes out of who wrote a line, for each of them', async () => {
  const program = programWith(planted.slice(0, 4));
  for (const form of [[], ['--json'], ['--jsonl']]) {
    const { exit, stdout } = await program.run(['blame', 'src/needle.ts:1', ...form]);
    expect([exit, foundIn(stdout)]).toEqual([0, []]);
    expect(stdout).toContain('needle');
  }
});

interface Reply {
  readonly id: number;
  readonly result: { readonly structuredContent?: { readonly next_cursor?: string | null } };
}

/** Everything that a tool of the MCP server says, page by page. */
async function everyAnswer(program: TestProgram, tool: string, input: object): Promise<string> {
  let said = '';
  let cursor: object = {};
  for (let page = 0; page < pagesMax; page += 1) {
    const params = { name: tool, arguments: { ...input, ...cursor, max_bytes: 65_536 } };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const { stdout, stderr } = await program.run(['mcp'], { stdin: `${JSON.stringify(call)}\n` });
    said += stdout + stderr;
    const reply: Reply = JSON.parse(stdout);
    const next = reply.result.structuredContent?.next_cursor ?? null;
    if (next === null) return said;
    cursor = { cursor: next };
  }
  return said;
}

const tools: readonly (readonly [tool: string, input: object, holds: string])[] = [
  ['turnlog_search', { text: 'needle', limit: 100, explain: true }, 'needle'],
  ['turnlog_timeline', { session: 's-1' }, 'needle'],
  ['turnlog_get', { session: 's-1' }, 'needle'],
  ['turnlog_blame', { path: 'src/needle.ts', reads: true, mentions: true, limit: 100 }, 'needle'],
  ['turnlog_blame', { path: 'src/needle.ts', line: 1 }, 'needle'],
  ['turnlog_stats', { by: ['session', 'workspace', 'tool'], limit: 500 }, 's-1'],
  ['turnlog_verify', { session: 's-1' }, 's-1'],
  ['turnlog_get', { session: planted[0]?.text ?? '' }, 'error'],
  ['turnlog_none', { [planted[1]?.text ?? '']: 1 }, 'error'],
];

test.each(tools)(
  'CL-24, I-19: of 1,000 planted secrets none comes out of the MCP server: %s %j',
  async (tool, input, holds) => {
    const said = await everyAnswer(programWith(planted), tool, input);
    expect(said).toContain(holds);
    expect(foundIn(said)).toEqual([]);
  },
  120_000,
);

test('CL-24 a secret that lies in two pieces of a long text, or is longer than one, is in no snippet', async () => {
  const program = new TestProgram();
  const key = `AKIA${'Q7ZX2LMN'.repeat(2)}`;
  const body = Array.from({ length: 140 }, (_, at) => `${'MIIEpAIBAAKCAQEAv7Zk'.repeat(3)}${at}needle`).join(
    '\n',
  );
  const pem = `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----`;
  const texts = [
    // The piece ends at byte 4,096, inside of the key.
    `${'needle'.padEnd(4_085, '.')} ${key}${'.'.repeat(4_000)}needle`,
    `before\n${pem}\nneedle behind`,
  ];
  const items = texts.map((text, at) => ({
    type: 'item.completed',
    item: { id: `i${at}`, type: 'agent_message', text },
  }));
  program.plant('s-1', storedLines([{ type: 'turn.started' }, ...items]));
  for (const query of [
    'needle',
    '.',
    'MIIEpAIBAAKCAQEAv7ZkMIIEpAIBAAKCAQEAv7ZkMIIEpAIBAAKCAQEAv7Zk7needle',
    key.slice(-8),
    '-----',
  ]) {
    const { stdout } = await program.run(['search', '--limit', '100', '--json', '--', query]);
    const { hits }: { readonly hits: readonly { readonly snippet: { readonly text: string } }[] } =
      JSON.parse(stdout);
    for (const { snippet } of hits) {
      expect(snippet.text).not.toMatch(/AKIAQ|Q7ZX2LMN|MIIEpAIB/);
    }
  }
  const { stdout } = await program.run(['search', 'needle', '--limit', '100', '--json']);
  expect(JSON.parse(stdout).total.value).toBe(3);
});

test('the search for them finds what is not redacted', async () => {
  const { stdout } = await programWith(planted).run([
    'search',
    'needle',
    '--limit',
    '100',
    '--json',
    '--no-redact',
  ]);
  expect(foundIn(stdout).length).toBeGreaterThan(20);
});

test('I-20 mcp takes no --no-redact', async () => {
  const { exit, stdout, stderr } = await programWith(planted.slice(0, 1)).run(['mcp', '--no-redact']);
  expect([exit, stdout]).toEqual([2, '']);
  expect(stderr).toContain('bad-flag');
});
