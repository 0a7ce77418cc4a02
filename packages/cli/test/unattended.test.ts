import { TestProgram } from './support.js';

interface Listed {
  readonly sessions: readonly { readonly id: string; readonly agent: string | null }[];
  readonly summary: { readonly listed: number; readonly matching: number; readonly hidden: number };
}

function logOf(agent: string, minute: number): Buffer {
  const ts = new Date(Date.UTC(2026, 9, 5, 8, 0, 0) + minute * 60_000).toISOString();
  const line = (seq: number, event: object): string =>
    `${JSON.stringify({ schema_version: '0.18.0', seq, ts, event })}\n`;
  return Buffer.from(
    line(1, { type: 'run.started', program: 'agent', cwd: '/srv/w', agent }) +
      line(2, { type: 'turn.started' }),
  );
}

/** Sessions of programs between those of people: every fifteenth is somebody's own. */
async function programWith(headless: number, interactive: number): Promise<TestProgram> {
  const program = new TestProgram();
  await (await program.store()).transaction('own', (log) => log.append({ type: 'error', message: 'made' }));
  const sessions = `${program.root}/sessions`;
  const count = headless + interactive;
  for (let index = 0; index < count; index += 1) {
    const isOwn = index % 15 === 0 && index / 15 < interactive;
    const directory = `${sessions}/s-${String(index).padStart(5, '0')}`;
    program.disk.plantDirectory(directory, { mode: 0o700 });
    program.disk.plantFile(`${directory}/events.jsonl`, logOf(isOwn ? 'primary' : 'headless', index), {
      mode: 0o600,
    });
  }
  return program;
}

test('G-21, B103 3,995 headless runs between 280 talks: all are in the store, 280 are listed, filtered before the cut', async () => {
  const program = await programWith(3_995, 279);
  const list = async (...more: readonly string[]): Promise<Listed> => {
    const { exit, stdout } = await program.run(['sessions', '--json', ...more]);
    expect(exit).toBe(0);
    return JSON.parse(stdout) as Listed;
  };
  const whole = await list('--limit', '1000');
  expect(whole.summary).toMatchObject({ listed: 280, matching: 280, hidden: 3_995 });
  expect(whole.sessions.every(({ agent }) => agent !== 'headless')).toBe(true);
  // A short page is full of what was asked for, whatever lies in between.
  expect((await list('--limit', '50')).sessions).toEqual(whole.sessions.slice(0, 50));
  expect((await list('--include-hidden', '--limit', '5000')).summary.matching).toBe(4_275);
});
