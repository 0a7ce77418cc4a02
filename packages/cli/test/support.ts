import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { runAgent } from '@turnlog/replay';
import { openStore, type Store } from '@turnlog/store';
import {
  createTestMachine,
  FakeClock,
  FakeLockTable,
  FaultFileSystem,
  ModelFileSystem,
  type TestMachine,
} from '@turnlog/testkit';
import { type Io, run, type StopSignal } from 'turnlog';
import type { Verb } from '../src/verb.js';
import { verbs } from '../src/verbs.js';

export interface RunOptions {
  readonly stdin?: string | Uint8Array | readonly (string | Uint8Array)[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly columns?: number;
  readonly isTty?: boolean;
  readonly environment?: Partial<LogEnvironment>;
  /** How many writes to stdout succeed before nobody reads any more. */
  readonly stdoutWrites?: number;
  /** Comes after so many chunks of stdin; the input then goes on for ever. */
  readonly signal?: StopSignal;
  /** So many milliseconds pass behind the last chunk of stdin; the input then goes on for ever. */
  readonly stdinPausesMs?: number;
}

export interface Result {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly bytes: Buffer;
}

/** A whole machine in memory, with a command line on it. */
export class TestProgram {
  readonly root: string = '/data/store';
  readonly clock = new FakeClock('skips');
  readonly disk = new ModelFileSystem({ clock: this.clock });
  readonly fs = new FaultFileSystem(this.disk);
  readonly lockTable = new FakeLockTable();
  readonly machine: TestMachine = createTestMachine({
    fs: this.fs,
    clock: this.clock,
    lockTable: this.lockTable,
  });

  async run(argv: readonly string[], options: RunOptions = {}): Promise<Result> {
    const out: Buffer[] = [];
    const errors: Buffer[] = [];
    let writesLeft = options.stdoutWrites ?? Number.POSITIVE_INFINITY;
    let stop: (signal: StopSignal) => void = () => undefined;
    const isTty = options.isTty ?? false;
    const io: Io = {
      stdin: input(options, () => {
        if (options.signal !== undefined) stop(options.signal);
        this.clock.advance(options.stdinPausesMs ?? 0);
      }),
      stdout: {
        write: async (chunk) => {
          if (writesLeft <= 0) throw closedPipe();
          writesLeft -= 1;
          out.push(Buffer.from(chunk));
        },
      },
      stderr: { write: async (chunk) => void errors.push(Buffer.from(chunk)) },
      env: { HOME: '/u/ann', TURNLOG_ROOT: this.root, TURNLOG_TZ: 'UTC', ...options.env },
      cwd: options.cwd ?? '/',
      isTty: { stdin: false, stdout: isTty, stderr: isTty },
      columns: options.columns ?? null,
      environment: { ...this.machine, ...options.environment },
      // In this process and on this disk; that it is another one is for tests of the program itself.
      runAgent: async (request) =>
        await runAgent(request, {
          fs: this.fs,
          load: async (path) => await Promise.resolve(jest.requireActual(path)),
        }),
      onStop: (listener) => {
        stop = listener;
        return () => undefined;
      },
    };
    const exit = await run(argv, io);
    const bytes = Buffer.concat(out);
    return { exit, stdout: bytes.toString('utf8'), stderr: Buffer.concat(errors).toString('utf8'), bytes };
  }

  store(): Promise<Store> {
    return openStore({ root: this.root, environment: this.machine, cwd: '/', env: {} });
  }

  /** Records events into a session and gives it back. */
  async fill(id: string, events: readonly object[]): Promise<void> {
    const session = await (await this.store()).open(id);
    for (const event of events) session.append({ raw: JSON.stringify(event) });
    await session.close();
  }

  plant(id: string, bytes: string | Uint8Array): void {
    for (const path of ['/data', this.root, `${this.root}/sessions`, this.session(id)]) {
      if (this.disk.status(path) === null) this.disk.plantDirectory(path);
    }
    this.disk.plantFile(`${this.session(id)}/events.jsonl`, Buffer.from(bytes));
  }

  /** A store at `editedRoot`: a file is made, changed, read and named. */
  plantEdits(): void {
    for (const path of [editedRoot, `${editedRoot}/sessions`, `${editedRoot}/sessions/e-1`])
      this.disk.plantDirectory(path);
    this.disk.plantFile(`${editedRoot}/sessions/e-1/events.jsonl`, Buffer.from(storedLines(edits)));
  }

  /** The fixture of `s-1` as the first version of the format had it. */
  plantFixture(path: string): void {
    const kept = resolve(__dirname, '../../../test/golden/fixtures/1');
    this.disk.plantDirectory(dirname(path));
    this.disk.plantDirectory(path);
    for (const name of readdirSync(kept))
      this.disk.plantFile(`${path}/${name}`, readFileSync(join(kept, name)));
  }

  session(id: string): string {
    return `${this.root}/sessions/${id}`;
  }
}

async function* input(options: RunOptions, end: () => void): AsyncGenerator<Uint8Array, void, void> {
  const { stdin = '', signal, stdinPausesMs } = options;
  const chunks = typeof stdin === 'string' || stdin instanceof Uint8Array ? [stdin] : stdin;
  for (const chunk of chunks) {
    if (chunk.length > 0) yield Buffer.from(chunk);
  }
  if (signal === undefined && stdinPausesMs === undefined) return;
  end();
  await new Promise(() => undefined);
}

function closedPipe(): TurnlogError {
  return new TurnlogError('TURNLOG_IO', { details: { operation: 'write', path: 'stdout', errno: 'EPIPE' } });
}

/** Own input, one line for each event. */
export function ownLines(events: readonly object[]): string {
  return events.map((event) => `${JSON.stringify({ event })}\n`).join('');
}

/** Stored lines, one for each event and one second after the other. */
export function storedLines(events: readonly object[]): string {
  return events
    .map((event, at) => {
      const ts = new Date(Date.UTC(2026, 9, 5, 8, 0, at)).toISOString();
      return `${JSON.stringify({ schema_version: '0.18.0', seq: at + 1, ts, event })}\n`;
    })
    .join('');
}

const itemDone = (id: string, item: object): object => ({ type: 'item.completed', item: { id, ...item } });

/** One turn that makes `src/bridge.ts`, changes its second line, reads it and names it in a command. */
export const edits: readonly object[] = [
  { type: 'run.started', program: 'p', version: '1', cwd: '/w', workspace: '/w', agent: 'primary' },
  { type: 'turn.started' },
  {
    type: 'user.message',
    id: 'm1',
    origin: 'prompt',
    content: [{ type: 'text', text: 'Build a bridge over the Rhine.' }],
  },
  itemDone('f1', {
    type: 'file_change',
    status: 'completed',
    changes: [{ path: 'src/bridge.ts', kind: 'add' }],
    unified_diff: '--- /dev/null\n+++ b/src/bridge.ts\n@@ -0,0 +1,2 @@\n+one\n+two\n',
  }),
  itemDone('f2', {
    type: 'file_change',
    status: 'completed',
    changes: [{ path: 'src/bridge.ts', kind: 'update' }],
    unified_diff: '--- a/src/bridge.ts\n+++ b/src/bridge.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n',
  }),
  itemDone('t1', {
    type: 'tool_invocation',
    tool_name: 'read_file',
    status: 'completed',
    arguments: { path: 'src/bridge.ts' },
  }),
  itemDone('c1', {
    type: 'command_execution',
    command: 'tsc src/bridge.ts',
    aggregated_output: '',
    exit_code: 0,
    status: 'completed',
  }),
  itemDone('a1', { type: 'agent_message', text: 'The bridge over the Rhine stands.' }),
  { type: 'turn.completed', usage: { input_tokens: 12, output_tokens: 5 } },
];

export const turn: readonly object[] = [
  { type: 'turn.started' },
  {
    type: 'user.message',
    id: 'm1',
    origin: 'prompt',
    content: [{ type: 'text', text: 'Please fix „Köln“.' }],
  },
  {
    type: 'item.started',
    item: { id: 'i1', type: 'command_execution', command: 'pnpm test', status: 'in_progress' },
  },
  {
    type: 'item.completed',
    item: {
      id: 'i1',
      type: 'command_execution',
      command: 'pnpm test',
      aggregated_output: '4 passed\n1 failed',
      exit_code: 1,
      status: 'failed',
    },
  },
  { type: 'item.completed', item: { id: 'i2', type: 'agent_message', text: 'It is fixed.\nTwo lines.' } },
  { type: 'turn.completed', usage: { input_tokens: 12, output_tokens: 5 } },
];

/** Another store beside it, whose session `e-1` changed files. */
export const editedRoot = '/data/edited';

/** Code under test that does what the session `s-1` did. */
export const agentPath: string = resolve(__dirname, 'agents/bridge.cjs');

/** A command line of each verb that works on a store which holds the session `s-1` with one turn. */
export const workingLines: Readonly<Record<string, readonly string[]>> = {
  record: ['record', 'new-1'],
  append: ['append', 's-1', '--event', '{"type":"error","message":"m"}'],
  import: ['import', '/foreign'],
  sessions: ['sessions'],
  show: ['show', 's-1'],
  tail: ['tail', 's-1'],
  search: ['search', 'fixed'],
  blame: ['blame', 'src/bridge.ts', '--root', editedRoot],
  stats: ['stats'],
  export: ['export', 's-1', '--out', '/out/s-1.md', '--force'],
  rebuild: ['rebuild', 's-1'],
  gc: ['gc'],
  session: ['session', 'tag', 's-1', 'x'],
  doctor: ['doctor'],
  pack: ['pack', 's-1'],
  verify: ['verify', 's-1'],
  prove: ['prove', 's-1', '2'],
  redact: [
    'redact',
    's-1',
    '--scan',
    'fixed',
    '--apply',
    '--reason',
    'secret',
    '--accept-guessable',
    '--yes',
  ],
  mcp: ['mcp'],
  fixture: ['fixture', 'make', 's-1', '--out', '/out/s-1'],
  replay: ['replay', '/fixtures/run', '--module', agentPath],
  completion: ['completion', 'bash'],
  config: ['config', 'get'],
  capabilities: ['capabilities'],
};

/** Every verb there is, with a command line that works. A new verb must say one here. */
export function everyVerb(): readonly (readonly [name: string, argv: readonly string[], verb: Verb])[] {
  return verbs.map((verb) => {
    const argv = workingLines[verb.name];
    if (argv === undefined) throw new Error(`workingLines has no line for ${verb.name}`);
    return [verb.name, argv, verb];
  });
}

/** What lies in the trash of `filledProgram`, since more than thirty days. */
export const removedName = 'old-1.20260901T080000Z.0123abcd';

/** A store with the session `s-1` and a removed one, and a session of another program beside it. */
export async function filledProgram(): Promise<TestProgram> {
  const program = new TestProgram();
  await program.fill('s-1', turn);
  program.plantEdits();
  program.disk.plantDirectory('/out');
  program.disk.plantDirectory(`${program.root}/trash`);
  program.disk.plantDirectory(`${program.root}/trash/${removedName}`);
  program.disk.plantFile(
    `${program.root}/trash/${removedName}/events.jsonl`,
    Buffer.from('{"schema_version":"0.18.0","seq":1,"event":{"type":"turn.started"}}\n'),
  );
  program.plantFixture('/fixtures/run');
  program.disk.plantDirectory('/foreign');
  program.disk.plantDirectory('/foreign/v-1');
  program.disk.plantFile(
    '/foreign/v-1/events.jsonl',
    Buffer.from('{"schema_version":"0.18.0","event":{"type":"thread.started","thread_id":"v-1"}}\n'),
  );
  return program;
}

const golden = resolve(__dirname, '../../../test/golden/cases');
const shared = resolve(__dirname, '../../../../shared/cases');

/** Bytes of a case that comes with the specifications; the copy in this repository must have the same. */
export function caseBytes(folder: string, file: string): Buffer {
  const bytes = readFileSync(join(golden, folder, file));
  const original = join(shared, folder, file);
  if (existsSync(original) && !readFileSync(original).equals(bytes)) {
    throw new Error(`${folder}/${file} differs from the one of the specifications`);
  }
  return bytes;
}
