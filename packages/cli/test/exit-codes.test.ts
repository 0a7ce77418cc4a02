import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseSshSignature } from '@turnlog/audit';
import { errorCodes, isTurnlogError, type TurnlogError } from '@turnlog/kernel';
import { passThrough } from '@turnlog/store';
import { run } from 'turnlog';
import { envelopeOf, exitOf } from '../src/error-envelope.js';
import { errorExits, shownCode } from '../src/exit-codes.js';
import { filledProgram, ownLines, TestProgram, turn } from './support.js';

const secret = 'sk-live-0123456789abcdef';
const event = JSON.stringify({ type: 'error', message: secret });

type Provoke = () => Promise<TurnlogError | { readonly stdout: string; readonly exit: number }>;

const withWire = async (): Promise<TestProgram> => {
  const program = new TestProgram();
  program.plant('gold', readFileSync(resolve(__dirname, '../../../test/golden/wire/golden.jsonl')));
  return program;
};

async function thrown(work: () => unknown): Promise<TurnlogError> {
  try {
    await work();
  } catch (error) {
    if (isTurnlogError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const line =
  (...argv: readonly string[]): Provoke =>
  async () =>
    await (await filledProgram()).run([...argv, '--json']);

/** A way to each error code: by a command line, or by the library where no command line comes so far. */
const provocations: Readonly<Partial<Record<keyof typeof errorCodes, Provoke>>> = {
  TURNLOG_INVALID_SESSION_ID: line('show', '../x'),
  TURNLOG_ID_COLLISION: line('append', 'S-1', '--event', event),
  TURNLOG_AMBIGUOUS_ID: async () => {
    const program = new TestProgram();
    for (const id of ['abcd-1', 'abcd-2']) await program.fill(id, turn);
    return await program.run(['show', 'abcd', '--json']);
  },
  TURNLOG_UNSAFE_PATH: async () => {
    const program = await filledProgram();
    program.disk.plantLink(program.session('away'), '/data');
    return await program.run(['show', 'away', '--json']);
  },
  TURNLOG_NOT_FOUND: line('show', 'nobody'),
  TURNLOG_LOG_UNREADABLE: async () => {
    const program = await filledProgram();
    program.plant('bad', 'x\ny\n');
    return await program.run(['show', 'bad', '--json']);
  },
  TURNLOG_QUERY_TOO_LONG: line('search', 'x'.repeat(4_097)),
  TURNLOG_NOTHING_TO_SEARCH: line('search', '-Q', ' -x'),
  TURNLOG_GUESSABLE: line('redact', 's-1', '3', '--reason', 'secret', '--yes'),
  TURNLOG_TURN_NOT_FOUND: line('show', 's-1', '--turn', '9'),
  TURNLOG_GONE: async () => await (await withWire()).run(['show', 'gold:1', '--json']),
  TURNLOG_REWOUND: async () => {
    const program = await filledProgram();
    const out: string[] = [];
    const following = run(['tail', 's-1', '-f', '--json'], {
      stdin: (async function* () {})(),
      stdout: {
        write: async (chunk) => {
          out.push(String(chunk));
          if (out.length === turn.length)
            program.plant('s-1', '{"schema_version":"0.18.0","seq":1,"event":{"type":"x.a.b"}}\n');
        },
      },
      stderr: { write: async () => undefined },
      env: { TURNLOG_ROOT: program.root, HOME: '/u' },
      cwd: '/',
      isTty: { stdin: false, stdout: false, stderr: false },
      columns: null,
      environment: program.machine,
      onStop: () => () => undefined,
    });
    return { exit: await following, stdout: out.at(-1) ?? '' };
  },
  TURNLOG_LOCKED: async () => {
    const program = await filledProgram();
    await (await program.store()).open('s-1');
    return await program.run(['record', 's-1', '--json'], { stdin: ownLines(turn) });
  },
  TURNLOG_BUSY: async () =>
    await (await filledProgram()).run(['append', 's-1', '--timeout', '1s', '--json'], {
      stdinPausesMs: 1_000,
    }),
  TURNLOG_LOCK_LOST: async () => {
    const program = await filledProgram();
    const session = await (await program.store()).open('s-1');
    session.append({ type: 'turn.started' });
    program.disk.plantFile(`${program.session('s-1')}/events.jsonl`, Buffer.from('x'));
    return await thrown(() => session.sync());
  },
  TURNLOG_POISONED: async () => {
    const program = await filledProgram();
    const session = await (await program.store()).open('s-1');
    session.append({ type: 'turn.started' });
    program.fs.setFault({
      call: 1,
      lasting: 'once',
      effect: { errno: 'EIO' },
      applies: ({ verb }) => verb === 'syncData',
    });
    await thrown(() => session.sync());
    return await thrown(() => session.append({ type: 'turn.started' }));
  },
  TURNLOG_CLOSED: async () => {
    const session = await (await (await filledProgram()).store()).open('s-1');
    await session.close();
    return await thrown(() => session.append({ type: 'turn.started' }));
  },
  TURNLOG_READ_ONLY: async () => {
    const program = await filledProgram();
    program.fs.setFault({
      call: 1,
      lasting: 'from-then-on',
      effect: { errno: 'EROFS' },
      applies: ({ verb, path }) => (verb === 'open' && path.endsWith('events.jsonl')) || verb === 'write',
    });
    return await program.run(['append', 's-1', '--event', event, '--json']);
  },
  TURNLOG_STALE_HEAD: line('append', 's-1', '--event', event, '--expect-seq', '2'),
  TURNLOG_KEY_CONFLICT: async () => {
    const program = await filledProgram();
    await program.run(['append', 's-1', '--event', event, '--key', 'k']);
    return await program.run(['append', 's-1', '--event', '{"type":"turn.started"}', '--key', 'k', '--json']);
  },
  TURNLOG_INVALID_EVENT: line('append', 's-1', '--event', `{"type":"turn.completed","secret":"${secret}"`),
  TURNLOG_RECORD_TOO_LARGE: line(
    'append',
    's-1',
    '--event',
    `{"type":"x.a.b","v":"${secret.repeat(800_000)}"}`,
  ),
  TURNLOG_TOO_DEEP: line(
    'append',
    's-1',
    '--event',
    `{"type":"x.a.b","v":${'['.repeat(150)}"${secret}"${']'.repeat(150)}}`,
  ),
  TURNLOG_RESERVED_RECORD: line('append', 's-1', '--event', `{"type":"log.evicted","v":"${secret}"}`),
  TURNLOG_IO: async () => {
    const program = await filledProgram();
    program.fs.setFault({
      call: 1,
      lasting: 'from-then-on',
      effect: { errno: 'EIO' },
      applies: ({ verb }) => verb === 'read',
    });
    return await program.run(['show', 's-1', '--json']);
  },
  TURNLOG_CURSOR_MISMATCH: line('sessions', '--cursor', 'bm9uZQ'),
  TURNLOG_BAD_FLAG: line('sessions', '--nope'),
  TURNLOG_BAD_CONFIG: async () =>
    await new TestProgram().run(['sessions', '--json'], { env: { TURNLOG_TZ: 'Mars/X' } }),
  TURNLOG_UNKNOWN_SOURCE: async () =>
    await new TestProgram().run(['record', '--json'], { stdin: '{"a":1}\n' }),
  TURNLOG_NEEDS_YES: async () => {
    const program = await filledProgram();
    await (await program.store()).open('s-1');
    return await program.run(['doctor', '--force-unlock', 's-1', '--json']);
  },
  TURNLOG_PINNED: async () => {
    const program = await filledProgram();
    await program.run(['session', 'pin', 's-1', '--reason', 'it is needed']);
    return await program.run(['session', 'delete', 's-1', '--yes', '--json']);
  },
  TURNLOG_INVALID_PACK: async () => {
    const program = await filledProgram();
    program.disk.plantFile('/out/bad.json', Buffer.from(`{"schema_version":1,"session_id":"${secret}/.."}`));
    return await program.run(['prove', '--from', '/out/bad.json', '--to', '/out/bad.json', '--json']);
  },
  TURNLOG_BAD_SIGNATURE: async () => await thrown(() => parseSshSignature(Buffer.from(secret))),
  TURNLOG_UNPACKABLE: async () => {
    const program = await filledProgram();
    program.disk.plantLink(`${program.session('s-1')}/derived`, '/out');
    return await program.run(['pack', 's-1', '--json']);
  },
  TURNLOG_NOTHING_TO_PACK: async () => {
    const program = await filledProgram();
    program.plant('empty', '');
    return await program.run(['pack', 'empty', '--json']);
  },
  TURNLOG_INVALID_FIXTURE: async () => {
    const program = await filledProgram();
    program.disk.plantFile('/fixtures/run/exchanges.jsonl', Buffer.from(secret));
    return await program.run(['fixture', 'check', '/fixtures/run', '--json']);
  },
  TURNLOG_REPLAY_MISS: async () => {
    const program = await filledProgram();
    await program.fill('s-2', turn.slice(0, -1));
    return await program.run(['fixture', 'make', 's-2', '--out', '/out/s-2', '--strict', '--json']);
  },
  TURNLOG_INTERNAL: async () => {
    const program = await filledProgram();
    const fs = new Proxy(program.fs, {
      get: (target, name, receiver) => {
        if (name === 'status') throw new TypeError('not a function');
        return Reflect.get(target, name, receiver);
      },
    });
    return await program.run(['show', 's-1', '--json'], { environment: { fs } });
  },
};

/** Codes that no verb comes to yet, and the test of the library that reaches each. */
const elsewhere: Readonly<Partial<Record<keyof typeof errorCodes, string>>> = {
  TURNLOG_ARCHIVE_FAILED: 'test/crash/eviction-protocol.test.ts',
  TURNLOG_CAP: 'packages/log/test/eviction-plan.test.ts',
  TURNLOG_HOOK_FAILED: 'packages/log/test/eviction-hook.test.ts',
  TURNLOG_INVALID_JOURNAL: 'packages/log/test/frames.test.ts',
  TURNLOG_NETWORK_USED: 'packages/cli/test/e2e/replay.test.ts',
  TURNLOG_ASSET_MISSING: 'packages/store/test/asset-store.test.ts',
  TURNLOG_ASSET_DAMAGED: 'packages/store/test/asset-store.test.ts',
};

test('I-25 every code is reached here or by a test that is named here', () => {
  expect([...Object.keys(provocations), ...Object.keys(elsewhere)].sort()).toEqual(
    Object.keys(errorCodes).sort(),
  );
  for (const [code, file] of Object.entries(elsewhere)) {
    expect(readFileSync(resolve(__dirname, '../../..', file), 'utf8')).toContain(code);
  }
});

test.each(Object.entries(provocations))(
  'I-3, I-25 %s is reached, has its exit and a hint, and tells no secret',
  async (code, provoke) => {
    const outcome = await provoke();
    const isError = isTurnlogError(outcome);
    const envelope = isError ? envelopeOf(outcome, passThrough) : JSON.parse(outcome.stdout);
    const exit = isError ? exitOf(outcome) : outcome.exit;
    const known = Object.keys(errorCodes).find(
      (candidate): candidate is keyof typeof errorCodes => candidate === code,
    );
    if (known === undefined) throw new Error(`${code} is no code`);
    expect(envelope).toMatchObject({
      schema_version: 1,
      error: { code: shownCode(known), hint: errorCodes[known].hint },
    });
    expect(exit).toBe(errorExits[known]);
    expect(envelope.error.message).not.toMatch(/\p{Cc}/u);
    expect(envelope.error.hint).not.toMatch(/\p{Cc}/u);
    expect(envelope.error.hint.length).toBeGreaterThan(5);
    expect(JSON.stringify(envelope)).not.toContain(secret);
  },
);

test('I-25 every code is documented by capabilities, with meaning, hint and exit', async () => {
  const { stdout } = await new TestProgram().run(['capabilities', '--json']);
  const { codes } = JSON.parse(stdout);
  expect(codes).toEqual(
    Object.entries(errorCodes).map(([code, { meaning, hint }]) => ({
      code: code.slice('TURNLOG_'.length).toLowerCase().replaceAll('_', '-'),
      exit: Object.entries(errorExits).find(([known]) => known === code)?.[1],
      meaning,
      hint,
    })),
  );
});

test('I-3 a batch in which one item fails does not end with 0', async () => {
  const program = await filledProgram();
  program.disk.plantDirectory('/foreign/v-2');
  program.disk.plantFile('/foreign/v-2/events.jsonl', Buffer.from('{"schema_version":"0.18.0"}\n'));
  program.fs.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EIO' },
    applies: ({ verb, path }) => verb === 'read' && path.startsWith('/foreign/v-2/'),
  });
  const { exit, stdout } = await program.run(['import', '/foreign', '--json']);
  expect(exit).toBe(1);
  expect(JSON.parse(stdout).summary).toMatchObject({ sources: 2, imported: 1, failed: 1 });
});

test('I-3 the other batches: one session that fails is counted, and the others are done', async () => {
  const program = await filledProgram();
  program.plant('bad', 'no record\n');
  for (const argv of [
    ['rebuild', 's-1', 'bad', '--json'],
    ['rebuild', '--check', '--json'],
    ['export', 's-1', 'bad', '--out', '/out', '--json'],
  ]) {
    const { exit, stdout } = await program.run(argv);
    expect([argv, exit, JSON.parse(stdout).summary.failed]).toEqual([argv, 1, 1]);
  }
  const { exit, stdout } = await program.run(['stats', '--json']);
  expect([exit, JSON.parse(stdout).unread.length]).toEqual([1, 1]);
});

const negative: readonly (readonly [argv: readonly string[], stdin: string])[] = [
  [['record', 's-1'], 'nonsense\n'],
  [['show', 's-1', '--kind', 'plan'], ''],
  [['import', '--path', '/empty'], ''],
  [['search', 'zeppelin'], ''],
  [['blame', 'src/zeppelin.ts'], ''],
];

test.each(negative)('I-3 the negative result of %j is 1', async (argv, stdin) => {
  const program = await filledProgram();
  program.disk.plantDirectory('/empty');
  expect((await program.run(argv, { stdin })).exit).toBe(1);
});

test('I-3 doctor ends with 1 when something was found and not fixed, and with 0 when nothing is left', async () => {
  const program = await filledProgram();
  program.disk.setMode(`${program.session('s-1')}/manifest.json`, 0o644);
  expect((await program.run(['doctor'])).exit).toBe(1);
  expect((await program.run(['doctor', '--fix', '--dry-run'])).exit).toBe(1);
  expect((await program.run(['doctor', '--fix'])).exit).toBe(0);
  expect((await program.run(['doctor'])).exit).toBe(0);
});

const misspelt: readonly (readonly [argv: readonly string[], near: string | null])[] = [
  [['sesions'], 'sessions'],
  [['recrod'], 'record'],
  [['show', 's-1', '--fromat', 'json'], '--format'],
  [['sessions', '--workspce', '/x'], '--workspace'],
  [['doctor', '--join-lines'], null],
  [['serach', 'x'], 'search'],
  [['zzzzzzzz'], null],
  [['record', '--redactible'], '--redactable'],
  [['sessions', '-z'], null],
  [[], null],
];

test.each(misspelt)('CL-9: %j is refused and not corrected; the hint is %p', async (argv, near) => {
  const program = await filledProgram();
  program.fs.journal.length = 0;
  const { exit, stdout, stderr } = await program.run(argv);
  expect([exit, stdout, program.fs.journal]).toEqual([2, '', []]);
  if (near !== null) expect(stderr).toContain(`did you mean ${near}?`);
});

test('CL-10: --version and --help read no store and load no verb', async () => {
  const program = new TestProgram();
  for (const argv of [['--version'], ['--help'], ['show', '--help'], ['--version', '--root', '/nowhere']]) {
    expect((await program.run(argv, { env: { TURNLOG_TZ: 'Mars/X' } })).exit).toBe(0);
  }
  expect(program.fs.journal).toEqual([]);
});

const written: readonly (readonly [argv: readonly string[], limit: number])[] = [
  [['sessions', '--limit', '1', '--json'], 1],
  [['sessions', '--limit=1', '--json'], 1],
  [['--json', '--root', '/data/store', 'sessions', '--limit', '2'], 2],
  [['sessions', '-q', '--json', '--sort=id', '--limit', '1'], 1],
];

test.each(written)('flags may be written as %j', async (argv, limit) => {
  const program = await filledProgram();
  await program.fill('s-2', turn);
  const { exit, stdout } = await program.run(argv);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout).sessions).toHaveLength(limit);
});

test('letters may stand together and carry their value; -- ends the flags', async () => {
  const program = await filledProgram();
  expect((await program.run(['tail', 's-1', '-qn2'])).stdout.trimEnd().split('\n')).toHaveLength(2);
  expect((await program.run(['tail', 's-1', '-n', '2'])).exit).toBe(0);
  expect((await program.run(['tail', '--', 's-1'])).exit).toBe(0);
  expect((await program.run(['tail', 's-1', '-n'])).exit).toBe(2);
  expect((await program.run(['sessions', '--json=x'])).exit).toBe(2);
  expect((await program.run(['tail', 's-1', 'extra'])).exit).toBe(2);
});
