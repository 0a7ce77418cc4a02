import fc from 'fast-check';
import { TestProgram } from './support.js';

const hostile = [
  '\x1b[2J\x1b]0;owned\x07',
  '\x1b]8;;http://x\x07link\x1b]8;;\x07',
  '\u202egnp.exe',
  'a\u2066b\u2069\u200b\ufeff',
  '\x9b31m\x85\x7f\r\x00',
  'sep\u2028\u2029',
  'half \ud83d pair',
];

/** Events that carry `text` in every member that is shown. */
function eventsWith(text: string): readonly object[] {
  const item = (type: string, members: object): object => ({
    type: 'item.completed',
    item: { id: `${type} ${text}`, type, ...members },
  });
  return [
    { type: 'thread.started', thread_id: text },
    { type: 'run.started', program: text, version: text, cwd: text, workspace: text, agent: text },
    { type: 'journal.set', title: text, tags: [text] },
    { type: 'turn.started', context: { goal: text } },
    {
      type: 'user.message',
      id: text,
      origin: text,
      content: [
        { type: 'text', text },
        { type: text, name: text },
      ],
    },
    { type: 'user.message', id: text, origin: 'prompt', content: [{ type: 'text', text }] },
    item('agent_message', { text }),
    item('plan', { text }),
    item('reasoning', { text, stage: text }),
    item('decision', { summary: text, rationale: text }),
    item('command_execution', {
      command: text,
      arguments: { [text]: text },
      aggregated_output: `${text}\n${text}`,
      status: text,
    }),
    item('tool_invocation', { tool_name: text, arguments: { [text]: text }, status: text, outcome: text }),
    item('tool_output', { call_id: text, output: text, status: text }),
    item('file_change', { changes: [{ path: text, kind: text }], status: text, unified_diff: text }),
    item('mcp_tool_call', { tool_name: text, server: text, arguments: [text], result: text, status: text }),
    item('web_search', { query: text, results: [text] }),
    item('harness', { event: text, message: text, command: text, path: text }),
    item('error', { message: text }),
    item(text, { anything: text }),
    { type: 'error', message: text },
    { type: 'interjected', text, source: text, image_count: 0, redirect_kind: text },
    { type: 'permission.requested', tool_name: text },
    { type: 'permission.resolved', tool_name: text, decision: text, wait_ms: 1 },
    { type: 'plan.delta', thread_id: text, turn_id: text, item_id: text, delta: text },
    { type: 'x.acme.note', [text]: text },
    { type: 'turn.failed', message: text },
    {
      type: 'thread.completed',
      thread_id: text,
      session_id: text,
      subtype: text,
      outcome_code: text,
      result: text,
      usage: {},
      num_turns: 1,
    },
  ];
}

/** What may never reach a terminal: everything that controls or hides, but newline and tab. */
const forbidden = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/u;

const lines: readonly (readonly string[])[] = [
  ['sessions', '--include-hidden'],
  ['show', 's'],
  ['show', 's', '--full'],
  ['show', 's', '--json'],
  ['show', 's', '--jsonl'],
  ['tail', 's', '-n', '100'],
  ['tail', 's', '-n', '100', '--json'],
  ['sessions', '--json'],
  ['doctor'],
  ['doctor', '--json'],
  ['stats', '--by', 'workspace,session'],
  ['stats', '--by', 'day,tool', '--json'],
  ['stats', '--by', 'model', '--jsonl'],
  ['rebuild', '--check', '--json'],
  ['export', 's', '--out', '/out', '--force'],
  ['export', 's', '--out', '/out', '--force', '--format', 'html', '--json'],
];

/** What is asked about the text itself, and may find something or nothing. */
function linesAbout(text: string): readonly (readonly string[])[] {
  const search = ['search', '--include-hidden', '--facets', '--explain', '--limit', '100'];
  return [
    [...search, '--', text],
    [...search, '--json', '--', text],
    [...search, '--engine', 'wink', '--', text],
    ['blame', '--reads', '--mentions', '--follow', '--', text],
    ['blame', '--reads', '--mentions', '--jsonl', '--', text],
  ];
}

const mayFindNothing: ReadonlySet<string> = new Set(['doctor', 'search', 'blame']);

async function everythingShown(
  text: string,
  options: { readonly isTty?: boolean; readonly color?: string } = {},
): Promise<string> {
  const program = new TestProgram();
  program.plant(
    's',
    `${eventsWith(text)
      .map((event, index) => JSON.stringify({ schema_version: '0.18.0', seq: index + 1, event }))
      .join('\n')}\n`,
  );
  program.disk.plantFile(
    `${program.root}/sessions/s/index-${text.replaceAll('/', '').replaceAll('\0', '')}`,
    Buffer.from('x'),
  );
  program.disk.plantDirectory('/out');
  let shown = '';
  for (const [verb = '', ...rest] of [...lines, ...linesAbout(text)]) {
    const result = await program.run([verb, '--color', options.color ?? 'never', ...rest], {
      isTty: options.isTty ?? true,
      columns: 80,
    });
    expect(result.exit === 0 || mayFindNothing.has(verb)).toBe(true);
    // What is not valid UTF-8 would show as U+FFFD, which hides nothing.
    shown += result.stdout + result.stderr;
  }
  return shown;
}

test.each(hostile)(
  'I-21 %j in every printed field: nothing that a terminal obeys comes out',
  async (text) => {
    const shown = await everythingShown(text);
    expect(shown).not.toMatch(forbidden);
    expect(shown.length).toBeGreaterThan(1_000);
  },
);

test('I-21 the same for texts of any characters', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }), async (text) => {
      expect(await everythingShown(text)).not.toMatch(forbidden);
    }),
    { numRuns: 15 },
  );
});

test('I-21 in colour the only sequences are our own', async () => {
  const shown = await everythingShown('\x1b[31mred\x1b[0m', { color: 'always' });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this is about
  const rest = shown.replace(/\x1b\[(?:0|1|2|3[1-6])m/g, '');
  expect(rest).not.toMatch(forbidden);
  expect(rest).toContain('\\x1b[31mred');
});

test('I-21 what is typed comes back safe in errors', async () => {
  const program = new TestProgram();
  for (const text of hostile) {
    for (const argv of [
      [text],
      ['show', text],
      ['sessions', `--${text}`],
      ['sessions', '--sort', text],
      ['import', text],
    ]) {
      const { exit, stderr, stdout } = await program.run(argv);
      expect(exit).toBeGreaterThan(0);
      expect(stderr + stdout).not.toMatch(forbidden);
      const json = await program.run([...argv.slice(0, 1), '--json', ...argv.slice(1)]);
      expect(json.stderr + json.stdout).not.toMatch(forbidden);
    }
  }
});
