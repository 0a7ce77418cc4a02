import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Io, run } from 'turnlog';

export const workspace = resolve(__dirname, '../../../..');
export const bin = join(workspace, 'packages/cli/dist/bin.js');

/** Builds the program, where something has changed since. */
export function build(): void {
  const compiler = join(workspace, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-b', 'packages/cli'], {
    cwd: workspace,
    encoding: 'utf8',
  });
  if (status !== 0 || !existsSync(bin)) throw new Error(`the program does not build:\n${stdout}`);
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program to its end. */
export function turnlog(root: string, argv: readonly string[], input = ''): Ended {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [bin, '--root', root, ...argv], {
    input,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return { code: status, signal, stdout, stderr };
}

/**
 * Runs the same program in this process, on the disk of this machine: for what only the files decide, as what a run
 * finds behind one that was stopped.
 */
export async function turnlogHere(root: string, argv: readonly string[], input = ''): Promise<Ended> {
  const said: Readonly<Record<'stdout' | 'stderr', Buffer[]>> = { stdout: [], stderr: [] };
  const sinkOf = (name: 'stdout' | 'stderr'): Io['stdout'] => ({
    write: async (chunk) => void said[name].push(Buffer.from(chunk)),
  });
  const code = await run(['--root', root, ...argv], {
    stdin: (async function* () {
      if (input !== '') yield Buffer.from(input);
    })(),
    stdout: sinkOf('stdout'),
    stderr: sinkOf('stderr'),
    env: process.env,
    cwd: process.cwd(),
    isTty: { stdin: false, stdout: false, stderr: false },
    columns: null,
    onStop: () => () => undefined,
  });
  const text = (name: 'stdout' | 'stderr'): string => Buffer.concat(said[name]).toString('utf8');
  return { code, signal: null, stdout: text('stdout'), stderr: text('stderr') };
}

/** The built program while it runs. */
export class Running {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly #ended: Promise<Ended>;

  constructor(root: string, argv: readonly string[]) {
    this.child = spawn(process.execPath, [bin, '--root', root, ...argv]);
    this.child.stdout?.on('data', (chunk) => {
      this.stdout += String(chunk);
    });
    this.child.stderr?.on('data', (chunk) => {
      this.stderr += String(chunk);
    });
    this.#ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => {
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  write(text: string): void {
    this.child.stdin?.write(text);
  }

  /** Resolves when `isTrue` has become true; looks every 20 ms, 10 s long. */
  async until(isTrue: () => boolean): Promise<void> {
    for (let tries = 0; tries < 500; tries += 1) {
      if (isTrue()) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`it did not come so far; stdout ${this.stdout} stderr ${this.stderr}`);
  }

  async stop(signal: NodeJS.Signals): Promise<Ended> {
    this.child.kill(signal);
    return await this.#ended;
  }

  async end(): Promise<Ended> {
    this.child.stdin?.end();
    return await this.#ended;
  }
}

/** A rollout of so many turns; each has a text of some length. */
export function rollout(thread: string, turns: number): string {
  const at = (n: number): string => new Date(Date.UTC(2026, 0, 2) + n * 1_000).toISOString();
  const line = (n: number, type: string, payload: object): string =>
    JSON.stringify({ timestamp: at(n), type, payload });
  const lines = [
    line(0, 'session_meta', {
      id: thread,
      timestamp: at(0),
      cwd: '/w',
      originator: 'codex_cli_rs',
      cli_version: '0.50.0',
    }),
  ];
  for (let n = 1; n <= turns; n += 1) {
    const content = [{ type: 'input_text', text: `please ${n}` }];
    lines.push(line(n, 'response_item', { type: 'message', role: 'user', content }));
    const answer = [{ type: 'output_text', text: `done ${n} ${'x'.repeat(400)}` }];
    lines.push(line(n, 'response_item', { type: 'message', role: 'assistant', content: answer }));
  }
  return `${lines.join('\n')}\n`;
}
