import fc from 'fast-check';
import { caseBytes, TestProgram } from './support.js';
import {
  anyWorld,
  type MadeWorld,
  makeWorld,
  type Reckoned,
  type Tokens,
  threadOf,
  type World,
} from './usage-world.js';

interface Usage {
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_creation_tokens: number;
  readonly output_tokens: number;
}

interface Figures {
  readonly answers: number;
  readonly usage: Usage | null;
}

interface Report {
  readonly rows: readonly (Figures & { readonly session: string })[];
  readonly total: Figures & { readonly sessions: number; readonly without_usage: number };
  readonly imported: { readonly raw_rows: number; readonly unique_rows: number };
  readonly links: readonly { readonly session: string; readonly linked_to: readonly string[] }[];
}

const projects = '/u/ann/.claude/projects/-repo';

function plant(program: TestProgram, files: ReadonlyMap<string, string | Uint8Array>): void {
  const directories = ['/u', '/u/ann', '/u/ann/.claude', '/u/ann/.claude/projects', projects];
  for (const name of files.keys()) {
    const parts = name.split('/').slice(0, -1);
    directories.push(...parts.map((_part, at) => `${projects}/${parts.slice(0, at + 1).join('/')}`));
  }
  for (const directory of directories) {
    if (program.disk.status(directory) === null) program.disk.plantDirectory(directory);
  }
  for (const [name, content] of files) program.disk.plantFile(`${projects}/${name}`, Buffer.from(content));
}

async function json<Document>(program: TestProgram, argv: readonly string[]): Promise<Document> {
  const { exit, stdout, stderr } = await program.run([...argv, '--json']);
  if (exit !== 0) throw new Error(`${argv.join(' ')}: ${stderr}${stdout}`);
  return JSON.parse(stdout) as Document;
}

/** @param halfWritten the thread that is imported before it is whole, and before any later one; null for none. */
async function recorded(world: MadeWorld, halfWritten: number | null): Promise<TestProgram> {
  const program = new TestProgram();
  if (halfWritten !== null) {
    plant(program, filesWhile(world, halfWritten));
    await json(program, ['import', 'claude']);
  }
  plant(program, world.files);
  for (const [id, events] of world.native) await program.fill(id, events);
  await json(program, ['import', 'claude', '--final']);
  return program;
}

function filesWhile({ files }: MadeWorld, halfWritten: number): ReadonlyMap<string, string> {
  const there = new Map<string, string>();
  for (const [name, text] of files) {
    const thread = threadOf(name);
    if (thread < halfWritten) there.set(name, text);
    else if (thread === halfWritten) there.set(name, firstHalf(text));
  }
  return there;
}

function firstHalf(text: string): string {
  const lines = text.split('\n');
  return `${lines.slice(0, Math.ceil(lines.length / 2)).join('\n')}\n`;
}

function figuresOf({ answers, usage }: Figures): readonly number[] {
  if (usage === null) return [answers, 0, 0, 0, 0];
  const { input_tokens, cached_input_tokens, cache_creation_tokens, output_tokens } = usage;
  return [answers, input_tokens, cached_input_tokens, cache_creation_tokens, output_tokens];
}

function flat(answers: number, { input, cached, creation, output }: Tokens): readonly number[] {
  return [answers, input, cached, creation, output];
}

/** The figures of sessions, summed by the name that `nameOf` gives each. */
function reckoned(
  sessions: ReadonlyMap<string, Reckoned>,
  nameOf: (id: string, session: Reckoned) => string,
): Readonly<Record<string, readonly number[]>> {
  const sums: Record<string, readonly number[]> = {};
  for (const [id, session] of sessions) {
    const name = nameOf(id, session);
    const before = sums[name] ?? [0, 0, 0, 0, 0];
    sums[name] = flat(session.answers, session.tokens).map((figure, at) => figure + (before[at] ?? 0));
  }
  return sums;
}

const byName = ({ rows }: Report): Readonly<Record<string, readonly number[]>> =>
  Object.fromEntries(rows.map((row) => [row.session, figuresOf(row)]));

async function checkWorld(world: MadeWorld, halfWritten: number | null): Promise<void> {
  const program = await recorded(world, halfWritten);
  const { sessions } = world;
  const apart = await json<Report>(program, ['stats', '--by', 'session']);
  expect(figuresOf(apart.total)).toEqual(reckoned(sessions, () => 'all')['all']);
  expect(apart.total.sessions).toBe(sessions.size);
  expect(apart.total.without_usage).toBe(world.turnsWithout);
  expect(apart.imported).toMatchObject({ raw_rows: world.rawRows, unique_rows: world.uniqueRows });
  const rolled = await json<Report>(program, ['stats', '--by', 'session', '--rollup']);
  expect(rolled.total).toEqual(apart.total);
  // An answer that may still grow is nobody's yet: a copy of it that is read meanwhile is taken for the first.
  if (halfWritten === null) checkSessions(sessions, apart, rolled);
  await checkSecondImport(program, apart);
}

function checkSessions(sessions: ReadonlyMap<string, Reckoned>, apart: Report, rolled: Report): void {
  expect(byName(apart)).toEqual(reckoned(sessions, (id) => id));
  expect(byName(rolled)).toEqual(reckoned(sessions, (id, { parent }) => parent ?? id));
  for (const [id, { repeats }] of sessions) {
    const linked = apart.links.find(({ session }) => session === id)?.linked_to ?? [];
    expect([id, [...linked].sort()]).toEqual([id, [...repeats].sort()]);
  }
}

async function checkSecondImport(program: TestProgram, before: Report): Promise<void> {
  const logs = (): readonly string[] =>
    program.disk
      .list(`${program.root}/sessions`)
      .map(({ name }) =>
        Buffer.from(program.disk.contentOf(`${program.session(name)}/events.jsonl`)).toString(),
      );
  const bytes = logs();
  const { summary } = await json<{ readonly summary: { readonly imported: number } }>(program, [
    'import',
    'claude',
    '--final',
  ]);
  expect(summary.imported).toBe(0);
  expect(logs()).toEqual(bytes);
  expect(await json<Report>(program, ['stats', '--by', 'session'])).toEqual(before);
}

/** The case of the failure log: rows repeated word for word, and a continuation that repeats an answer. */
async function checkCase(): Promise<void> {
  const program = new TestProgram();
  const threads = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;
  const read = (thread: string): Buffer =>
    caseBytes('B90-usage-repeat-and-replay', `claude/projects/-repo-demo/${thread}.jsonl`);
  plant(program, new Map(threads.map((thread) => [`${thread}.jsonl`, read(thread)])));
  await json(program, ['import', 'claude', '--final']);
  const report = await json<Report>(program, ['stats', '--by', 'session']);
  const [first, second] = threads.map((thread) => `claude-${thread}`);
  expect(byName(report)).toEqual({
    [`${first}`]: [1, 100, 0, 0, 50],
    [`${second}`]: [1, 100, 0, 0, 50],
  });
  expect(report.imported).toMatchObject({ raw_rows: 9, unique_rows: 7 });
  expect(report.links).toEqual([{ session: second, linked_to: [first] }]);
  await checkSecondImport(program, report);
}

test('I-16, B90, B91: each answer of the case and of generated work counts once, with its last figures, where it was given', async () => {
  await checkCase();
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(anyWorld, fc.option(fc.nat(3)), async (world, cut) => {
      const made = makeWorld(world);
      for (const [name, times] of made.seen) seen.set(name, (seen.get(name) ?? 0) + times);
      await checkWorld(made, isMixed(world) ? null : cut);
    }),
    { numRuns: 40 },
  );
  // Worlds without what the title speaks of would prove nothing.
  expect(seen.size).toBe(5);
  for (const [name, times] of seen) expect([name, times >= 20]).toEqual([name, true]);
}, 120_000);

/** Whether rows of answers stand between one another: such files are imported whole. */
function isMixed({ threads }: World): boolean {
  return threads.some(({ turns }) => turns.some((turn) => turn.isMixed));
}
