import { isSessionId } from '@turnlog/store';
import { textWidth } from '../src/output/width.js';
import { caseBytes, everyVerb, filledProgram, ownLines, TestProgram, turn } from './support.js';

const bad: readonly string[] = caseBytes('B144-session-ids', 'bad-ids.jsonl')
  .toString('utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line): { readonly id: string } => JSON.parse(line))
  .map(({ id }) => id);

const isFlag = (text: string): boolean => text.startsWith('-');

describe.each(everyVerb())('%s', (name, argv, verb) => {
  const stdin = name === 'record' ? ownLines(turn) : '';

  test('I-2 with --json stdout is one document whose first member is schema_version, and stderr holds no data', async () => {
    const program = await filledProgram();
    const { exit, stdout, stderr } = await program.run([...argv, '--json'], { stdin });
    expect([exit, stderr]).toEqual([0, '']);
    expect(stdout.endsWith('\n')).toBe(true);
    expect(Object.entries(JSON.parse(stdout))[0]).toEqual(['schema_version', 1]);
  });

  test('I-2 with --jsonl every line of stdout parses', async () => {
    const program = await filledProgram();
    const { exit, stdout } = await program.run([...argv, '--jsonl'], { stdin });
    expect(exit).toBe(0);
    for (const line of stdout.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
  });

  test('I-2 an error is told on stderr; for programs also as the one document on stdout', async () => {
    const program = await filledProgram();
    const text = await program.run([...argv, '--nonsense']);
    expect([text.exit, text.stdout]).toEqual([2, '']);
    expect(text.stderr).toContain('bad-flag');
    const json = await program.run([...argv, '--nonsense', '--json']);
    expect(json.exit).toBe(2);
    expect(JSON.parse(json.stdout)).toEqual(JSON.parse(json.stderr));
    expect(JSON.parse(json.stdout)).toMatchObject({
      schema_version: 1,
      error: { code: 'bad-flag', message: expect.any(String), hint: expect.any(String), retryable: false },
    });
  });

  test('I-2 a reader that goes away ends it quietly with 0', async () => {
    const program = await filledProgram();
    const { exit, stderr } = await program.run(argv, { stdin, stdoutWrites: 0 });
    expect(exit).toBe(0);
    expect(stderr).not.toContain('EPIPE');
  });

  test('I-2 a closed stdin is an empty one', async () => {
    const program = await filledProgram();
    const { exit } = await program.run(argv, { stdin: '' });
    expect(exit).toBe(0);
  });

  test.each([80, 20])('I-2 lines fit %p columns where they are tables', async (columns) => {
    const program = await filledProgram();
    const { exit, stdout } = await program.run(argv, { stdin, columns, isTty: true, env: { NO_COLOR: '1' } });
    expect(exit).toBe(0);
    if (!['sessions', 'tail', 'stats', 'blame'].includes(name)) return;
    for (const line of stdout.trimEnd().split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  });

  test('I-7 its help names every argument and flag, and changes nothing', async () => {
    const program = new TestProgram();
    const { exit, stdout } = await program.run([name, '--help']);
    expect(exit).toBe(0);
    expect(program.fs.journal).toEqual([]);
    for (const positional of verb.positionals) expect(stdout).toContain(positional.name);
    for (const flag of verb.flags) {
      expect(stdout).toContain(flag.name.length === 1 ? ` -${flag.name}` : ` --${flag.name}`);
      expect(stdout).toContain(flag.help);
    }
  });

  const places = verb.positionals.flatMap((positional, index) => (positional.isSession ? [index] : []));
  const idFlags = verb.flags.filter(({ value }) => value === 'ID');
  if (places.length === 0 && idFlags.length === 0) return;

  const firstFlag = argv.findIndex(isFlag);
  const named = argv.slice(1, firstFlag === -1 ? argv.length : firstFlag);
  const rest = argv.slice(1 + named.length);
  const withIdAt = (place: number, id: string): readonly string[] =>
    [...Array(Math.max(named.length, place + 1)).keys()].map((index) =>
      index === place ? id : (named[index] ?? 's-1'),
    );

  test('I-8, B144: a bad id is refused with exit 2 before any call to the file system', async () => {
    const program = await filledProgram();
    for (const id of bad) {
      const lines = [
        ...places.map((place) => [name, '--json', ...rest, '--', ...withIdAt(place, id)]),
        ...idFlags.map((flag) => [name, '--json', `--${flag.name}=${id}`]),
      ];
      for (const line of lines) {
        program.fs.journal.length = 0;
        const { exit, stdout } = await program.run(line);
        expect([id, exit, JSON.parse(stdout).error.code]).toEqual([id, 2, 'invalid-session-id']);
        expect(program.fs.journal).toEqual([]);
      }
    }
    expect(bad.filter((id) => isSessionId(id))).toEqual([]);
  });
});

const faults: readonly (readonly [errno: string, code: string, exit: number])[] = [
  ['EACCES', 'io', 7],
  ['EIO', 'io', 7],
  ['EMFILE', 'io', 7],
  ['ENOSPC', 'io', 7],
  ['ERR_STRING_TOO_LONG', 'io', 7],
];

describe.each(everyVerb().filter(([, , verb]) => verb.positionals.some(({ isSession }) => isSession)))(
  '%s on a failing disk',
  (name, argv) => {
    test.each(faults)('I-9 %s keeps its code and is never "not found"', async (errno, code, exit) => {
      const program = await filledProgram();
      program.fs.setFault({
        call: 1,
        lasting: 'from-then-on',
        effect: { errno },
        applies: ({ verb, path }) => path.endsWith('events.jsonl') && (verb === 'open' || verb === 'read'),
      });
      const line = name === 'record' ? ['record', 's-1'] : argv;
      const result = await program.run([...line, '--json'], { stdin: ownLines(turn) });
      expect([result.exit, JSON.parse(result.stdout).error.code]).toEqual([exit, code]);
      expect(JSON.parse(result.stdout).error.details.errno).toBe(errno);
    });
  },
);

test.each(['show', 'tail'])('I-9 ENOENT is "not found": %s', async (name) => {
  const program = await filledProgram();
  const { exit, stdout } = await program.run([name, 'no-such', '--json']);
  expect([exit, JSON.parse(stdout).error.code]).toEqual([6, 'not-found']);
});

test('I-9 a full disk under record leaves whole lines only, and exit 7', async () => {
  const program = await filledProgram();
  program.fs.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'ENOSPC' },
    applies: ({ verb, path }) => verb === 'write' && path.endsWith('events.jsonl'),
  });
  const { exit, stdout } = await program.run(['record', 's-1', '--json'], { stdin: ownLines(turn) });
  expect([exit, JSON.parse(stdout).error.code]).toEqual([7, 'io']);
  program.fs.setFault(null);
  const { stdout: shown } = await program.run(['show', 's-1', '--json']);
  expect(JSON.parse(shown).summary).toMatchObject({ records: turn.length, damage: 0 });
});

test('I-8 an unreadable session is listed with its reason beside good ones', async () => {
  const program = await filledProgram();
  program.plant('bad', 'no record\n');
  const { exit, stdout } = await program.run(['sessions', '--json', '--sort', 'id']);
  expect(exit).toBe(0);
  const { sessions } = JSON.parse(stdout);
  expect(sessions.map(({ id, events, error }: Listed) => [id, events, error?.code ?? null])).toEqual([
    ['bad', 0, 'log-unreadable'],
    ['s-1', turn.length, null],
  ]);
});

interface Listed {
  readonly id: string;
  readonly events: number;
  readonly error: { readonly code: string } | null;
}
