import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestProgram } from './support.js';

// The Claude stream is made by hand from its documented shape: there is no public sample of it.
const claude = readFileSync(
  join(
    __dirname,
    '..',
    '..',
    '..',
    'test',
    'golden',
    'importers',
    'claude-stream',
    'two-results',
    'input.jsonl',
  ),
  'utf8',
);

const codex = `${[
  '{"type":"thread.started","thread_id":"0199-live"}',
  '{"type":"turn.started"}',
  '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Hi 語"}}',
  '{"type":"turn.completed","usage":{"input_tokens":3,"cached_input_tokens":1,"output_tokens":1}}',
].join('\n')}\n`;

interface ShownRecord {
  readonly seq: number;
  readonly type: string;
  readonly event: Readonly<Record<string, unknown>>;
}

async function recordsOf(program: TestProgram, id: string): Promise<readonly ShownRecord[]> {
  const { stdout } = await program.run(['show', id, '--json']);
  return (JSON.parse(stdout) as { records: readonly ShownRecord[] }).records;
}

async function idOf(program: TestProgram): Promise<string> {
  const { stdout } = await program.run(['sessions', '--include-hidden', '--json']);
  return (JSON.parse(stdout) as { sessions: readonly { id: string }[] }).sessions[0]?.id ?? '';
}

function withoutPrompts(stream: string): string {
  const isPrompt = (line: string): boolean =>
    line.includes('"type":"user"') && !line.includes('"tool_result"');
  return stream
    .split('\n')
    .filter((line) => !isPrompt(line))
    .join('\n');
}

const streams: readonly (readonly [name: string, stdin: string, turns: number])[] = [
  ['codex exec', codex, 1],
  ['claude', claude, 2],
];

describe('G-23 live streams', () => {
  test.each(streams)(
    'G-23 %s: recorded as it comes, each result ends a turn',
    async (_name, stdin, turns) => {
      const program = new TestProgram();
      const blocks = stdin.split('\n').map((line) => `${line}\n`);
      expect((await program.run(['record'], { stdin: blocks })).exit).toBe(0);
      const types = (await recordsOf(program, await idOf(program))).map(({ type }) => type);
      expect(types.filter((type) => type === 'turn.started')).toHaveLength(turns);
      expect(types.filter((type) => type === 'turn.completed' || type === 'turn.failed')).toHaveLength(turns);
    },
  );

  test.each(streams)('G-23 %s: tee is byte-equal on a full disk, exit 7', async (_name, stdin) => {
    const program = new TestProgram();
    program.fs.setFault({
      call: 1,
      lasting: 'from-then-on',
      effect: { errno: 'ENOSPC' },
      applies: ({ verb, path }) => verb === 'write' && path.endsWith('events.jsonl'),
    });
    const { exit, stdout } = await program.run(['record', '--tee'], { stdin });
    expect([exit, stdout]).toEqual([7, stdin]);
  });

  test.each([
    ['codex exec', codex],
    // As without --replay-user-messages: what the user said is not in the stream.
    ['claude', withoutPrompts(claude)],
  ])('G-23 %s: --prompt says what the stream does not', async (_name, stdin) => {
    const program = new TestProgram();
    await program.run(['record', '--prompt', 'Say hi'], { stdin });
    const records = await recordsOf(program, await idOf(program));
    const at = records.findIndex(({ type }) => type === 'turn.started');
    expect(records[at + 1]?.event).toMatchObject({
      type: 'user.message',
      origin: 'prompt',
      content: [{ type: 'text', text: 'Say hi' }],
    });
  });

  test.each(streams)('G-23 %s: a stream that ends inside a turn fails it, exit 1', async (_name, stdin) => {
    const program = new TestProgram();
    const lines = stdin.trimEnd().split('\n');
    const cut = lines.slice(
      0,
      lines.findIndex((line) => /"(turn\.completed|result)"/.test(line)),
    );
    const { exit } = await program.run(['record'], { stdin: `${cut.join('\n')}\n` });
    expect(exit).toBe(1);
    const records = await recordsOf(program, await idOf(program));
    expect(records.at(-1)?.event).toMatchObject({ type: 'turn.failed', message: 'stream ended' });
  });
});
