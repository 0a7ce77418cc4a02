import {
  type BlameQuery,
  type BlameReport,
  blame,
  blameLineInSession,
  blameLineInStore,
  blameSession,
  blameStore,
  comparablePath,
  type LineOrigin,
  type PathRef,
  pathRefsOf,
  pathTouchesOf,
} from '@turnlog/search';
import { SeededRandom } from '@turnlog/testkit';
import { item, LogPlace, line, logOf, withLog } from './logs.js';

/** One step of an edit: a line that stays, goes or comes. */
type Step = readonly [mark: ' ' | '-' | '+', text: string];

/** A unified diff of the steps, with so many lines around each change. */
function diffOf(steps: readonly Step[], context: number): string {
  const near = steps.map((_, at) =>
    steps.slice(Math.max(0, at - context), at + context + 1).some(([mark]) => mark !== ' '),
  );
  const hunks: string[] = [];
  let [oldLine, newLine] = [0, 0];
  for (let at = 0; at < steps.length; ) {
    const end = near[at] === true ? near.indexOf(false, at) : at + 1;
    const part = steps.slice(at, end === -1 ? steps.length : end);
    const oldCount = part.filter(([mark]) => mark !== '+').length;
    const newCount = part.filter(([mark]) => mark !== '-').length;
    if (near[at] === true) {
      const range = (before: number, count: number): string =>
        `${count === 0 ? before : before + 1},${count}`;
      hunks.push(`@@ -${range(oldLine, oldCount)} +${range(newLine, newCount)} @@`);
      hunks.push(...part.map(([mark, text]) => mark + text));
    }
    oldLine += oldCount;
    newLine += newCount;
    at += part.length;
  }
  return hunks.map((text) => `${text}\n`).join('');
}

function randomSteps(random: SeededRandom, lines: readonly string[]): readonly Step[] {
  const chance = 2 + random.below(12);
  const added = (): readonly Step[] => (random.below(chance) === 0 ? [['+', `line ${random.below(6)}`]] : []);
  const kept = (text: string): Step => [random.below(chance) === 0 ? '-' : ' ', text];
  return [...lines.flatMap((text) => [...added(), kept(text)]), ...added(), ...added()];
}

interface Owned {
  readonly text: string;
  /** The record that added it, and which line it was there; the record that says too little, for what is older. */
  readonly seq: number;
  readonly line: number | null;
}

/** The reference: reads hunks forwards and writes behind each line who brought it. */
function applied(lines: readonly Owned[], diff: string, seq: number): readonly Owned[] {
  const result: Owned[] = [];
  let next = 0;
  for (const text of diff.split('\n').slice(0, -1)) {
    const range = /^@@ -(\d+),(\d+)/.exec(text);
    if (range !== null) {
      const before = Number(range[2]) === 0 ? Number(range[1]) : Number(range[1]) - 1;
      result.push(...lines.slice(next, before));
      next = before;
    } else if (text.startsWith('+')) {
      result.push({ text: text.slice(1), seq, line: result.length + 1 });
    } else {
      expect(lines[next]?.text).toBe(text.slice(1));
      const kept = lines[next];
      if (text.startsWith(' ') && kept !== undefined) result.push(kept);
      next += 1;
    }
  }
  return [...result, ...lines.slice(next)];
}

const change = (id: number, changes: readonly object[], diff: string | null, more: object = {}): object =>
  item('completed', {
    id: `c${id}`,
    type: 'file_change',
    changes,
    status: 'completed',
    unified_diff: diff,
    ...more,
  });

interface History {
  readonly log: string;
  readonly path: string;
  readonly lines: readonly Owned[];
}

/** A random life of a file: edited, renamed, and now and then changed by a record that does not say all. */
function randomHistory(random: SeededRandom, withGaps: boolean): History {
  const events: object[] = [];
  let path = 'src/f0.ts';
  let lines: readonly Owned[] = [];
  for (let seq = 1; seq <= 2 + random.below(14); seq += 1) {
    const steps = randomSteps(
      random,
      lines.map(({ text }) => text),
    );
    const diff = diffOf(steps, random.below(4));
    const isRenamed = seq > 1 && random.below(4) === 0;
    const next = isRenamed ? `src/f${seq}.ts` : path;
    const kind = seq === 1 ? 'add' : 'update';
    const names = isRenamed ? `rename from ${path}\nrename to ${next}\n` : '';
    const header = `diff --git a/${path} b/${next}\n${names}--- a/${path}\n+++ b/${next}\n`;
    const isCut = withGaps && seq > 1 && random.below(5) === 0;
    lines = applied(lines, diff, seq);
    if (isCut) lines = lines.map(({ text }) => ({ text, seq, line: null }));
    events.push(change(seq, [{ path: next, kind }], header + diff, isCut ? { diff_incomplete: true } : {}));
    path = next;
  }
  return { log: logOf(events), path, lines };
}

function told(origin: LineOrigin): unknown {
  if (origin.status === 'added') return [origin.record.seq, origin.line, origin.text];
  return [origin.record?.seq ?? null, null, origin.reason];
}

test('Q-25 lines of random edit histories have the authors of a reference interpreter, through renames; an incomplete diff says so', async () => {
  const random = new SeededRandom(Number(process.env['TURNLOG_TEST_SEED']));
  for (let round = 0; round < 120; round += 1) {
    const { log, path, lines } = randomHistory(random, round % 2 === 1);
    const query: BlameQuery = { path, renames: 'followed' };
    const found = await withLog(log, (reader) =>
      lines.map((_, index) => told(blameLineInSession(reader, query, index + 1))),
    );
    expect(found).toEqual(
      lines.map(({ text, seq, line: at }) => [seq, at, at === null ? 'incomplete-diff' : text]),
    );
  }
});

describe('where the chain breaks', () => {
  const added = '@@ -0,0 +1,2 @@\n+one\n+two\n';
  const ask = async (
    events: readonly object[],
    at: number,
    more: Partial<BlameQuery> = {},
  ): Promise<unknown> =>
    await withLog(logOf(events), (reader) => told(blameLineInSession(reader, { path: 'a.ts', ...more }, at)));
  const seqsOf = async (events: readonly object[], more: Partial<BlameQuery> = {}): Promise<unknown> =>
    await withLog(logOf(events), (reader) =>
      blameSession(reader, { path: 'a.ts', ...more }).map(({ seq }) => seq),
    );
  const first = change(1, [{ path: 'a.ts', kind: 'add' }], added);

  test('no record, a file that is gone, a line that was never there, one that is older than the records', async () => {
    expect(await ask([], 1)).toEqual([null, null, 'not-recorded']);
    expect(await ask([first, change(2, [{ path: 'a.ts', kind: 'delete' }], null)], 1)).toEqual([
      2,
      null,
      'deleted',
    ]);
    expect(await ask([first], 3)).toEqual([1, null, 'no-such-line']);
    const update = change(1, [{ path: 'a.ts', kind: 'update' }], '@@ -5 +5 @@\n-a\n+b\n');
    expect(await ask([update], 4)).toEqual([1, null, 'not-recorded']);
  });

  test.each([
    ['no diff', [{ path: 'a.ts', kind: 'update' }], null],
    [
      'a diff of other files',
      [
        { path: 'a.ts', kind: 'update' },
        { path: 'b.ts', kind: 'update' },
      ],
      '--- a/b.ts\n+++ b/b.ts\n@@ -1 +1 @@\n-a\n+b\n',
    ],
    ['a diff that ends early', [{ path: 'a.ts', kind: 'update' }], '@@ -1,9 +1,9 @@\n-a\n+b\n'],
  ])('%s', async (_, changes, diff) => {
    expect(await ask([first, change(2, changes, diff)], 1)).toEqual([2, null, 'incomplete-diff']);
  });

  test('rows of a name that a file took over from another one', async () => {
    const edited = (id: number, path: string): object => change(id, [{ path, kind: 'update' }], null);
    const renamed = change(3, [{ path: 'a.ts', kind: 'update' }], 'rename from old.ts\nrename to a.ts\n');
    const events = [edited(1, 'a.ts'), edited(2, 'old.ts'), renamed];
    expect(await seqsOf(events)).toEqual([3, 1]);
    expect(await seqsOf(events, { renames: 'followed' })).toEqual([3, 2]);
  });

  test('a rename, unless names are followed; changes that failed and what tools were asked to do count for nothing', async () => {
    const renamed = change(2, [{ path: 'a.ts', kind: 'update' }], 'rename from old.ts\nrename to a.ts\n');
    const old = change(1, [{ path: 'old.ts', kind: 'add' }], added);
    expect(await ask([old, renamed], 2)).toEqual([2, null, 'renamed']);
    expect(await ask([old, renamed], 2, { renames: 'followed' })).toEqual([1, 2, 'two']);
    const failed = change(3, [{ path: 'a.ts', kind: 'update' }], null, { status: 'failed' });
    const call = {
      id: 't',
      type: 'tool_invocation',
      tool_name: 'edit',
      arguments: { path: 'a.ts' },
      status: 'completed',
    };
    const mutating = item('completed', { ...call, context: { activity: 'mutation' } });
    expect(await ask([first, failed, mutating], 1)).toEqual([1, 1, 'one']);
  });

  test('of the snapshots of one change the last counts', async () => {
    const snapshot = (event: string, diff: string | null): object =>
      item(event, {
        id: 'c',
        type: 'file_change',
        changes: [{ path: 'a.ts', kind: 'add' }],
        status: 'completed',
        unified_diff: diff,
      });
    const events = [snapshot('started', null), snapshot('completed', added)];
    expect(await ask(events, 1)).toEqual([2, 1, 'one']);
    expect(await seqsOf(events)).toEqual([2]);
  });
});

const place = { directory: '/w/app/pkg', workspace: '/w/app' };
const short = ({ path, absolute, op, basis }: PathRef): unknown => [path, absolute, op, basis];

test('references: changes, arguments, words of commands and what only the diff names, placed in the workspace', () => {
  const refs = (value: object): unknown => pathRefsOf(pathTouchesOf(value, place)).map(short);
  const diff =
    'diff --git a/x.ts b/x.ts\n--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9,2 @@\n c\n+d\n' +
    'diff --git a/n.ts b/m.ts\nrename from n.ts\nrename to m.ts\ndiff --git a/z b/z\n--- /dev/null\n+++ b/z\n@@ -0,0 +1 @@\n+z\n';
  const changes = [
    { path: '/w/app/x.ts', kind: 'update' },
    { path: '../gone.ts', kind: 'delete' },
  ];
  const changed = { type: 'file_change', status: 'completed', changes, unified_diff: diff };
  expect(refs(changed)).toEqual([
    ['x.ts', '/w/app/x.ts', 'update', 'file_change'],
    ['x.ts', '/w/app/x.ts', 'update', 'file_change'],
    ['gone.ts', '/w/app/gone.ts', 'delete', 'file_change'],
    ['pkg/m.ts', '/w/app/pkg/m.ts', 'update', 'diff'],
    ['pkg/n.ts', '/w/app/pkg/n.ts', 'delete', 'diff'],
    ['pkg/z', '/w/app/pkg/z', 'add', 'diff'],
  ]);
  expect(pathRefsOf(pathTouchesOf(changed, place)).slice(0, 2)).toMatchObject([
    { oldRange: { start: 1, count: 1 }, newRange: { start: 1, count: 1 } },
    { oldRange: { start: 9, count: 1 }, newRange: { start: 9, count: 2 } },
  ]);
  expect(refs({ ...changed, status: 'failed' })).toEqual([]);
  const call = {
    type: 'tool_invocation',
    arguments: { file_path: 'a.ts', paths: ['b', 'C:\\w\\c.ts'], other: 'd.ts' },
  };
  expect(refs(call)).toEqual([
    ['pkg/a.ts', '/w/app/pkg/a.ts', 'read', 'tool_args'],
    ['pkg/b', '/w/app/pkg/b', 'read', 'tool_args'],
    ['C:/w/c.ts', 'C:/w/c.ts', 'read', 'tool_args'],
  ]);
  expect(refs({ ...call, arguments: { path: 'a' }, context: { activity: 'mutation' } })).toEqual([
    ['pkg/a', '/w/app/pkg/a', 'update', 'tool_args'],
  ]);
  const command = `grep -n "x/y" ./src/a.ts --out=b.json 2>/dev/null; curl https://x.org/a.ts && ls .. -a/b v1.2 a.unknown`;
  expect(refs({ type: 'command_execution', command })).toEqual([
    ['pkg/x/y', '/w/app/pkg/x/y', 'mention', 'command'],
    ['pkg/src/a.ts', '/w/app/pkg/src/a.ts', 'mention', 'command'],
    ['pkg/b.json', '/w/app/pkg/b.json', 'mention', 'command'],
    ['/dev/null', '/dev/null', 'mention', 'command'],
  ]);
});

test.each([
  ['./a//b/./c/', 'a/b/c'],
  ['a/../../b', '../b'],
  ['/../a/../../b', '/b'],
  ['c:\\w\\..\\x.ts', 'C:/x.ts'],
  ['C:\\..', 'C:/'],
  ['\\\\server\\share\\x', '//server/share/x'],
  ['.', '.'],
  ['a/..', '.'],
  ['/', '/'],
])('%s is %s', (given, path) => {
  expect(comparablePath(given)).toBe(path);
  expect(comparablePath(path)).toBe(path);
});

test('rows are newest first, over sessions by time, and hold the operations that are asked for', async () => {
  const test = await LogPlace.make();
  const run = { type: 'run.started', program: 'p', cwd: '/w' };
  const read = item('completed', {
    id: 'r',
    type: 'tool_invocation',
    tool_name: 'read',
    arguments: { path: 'a.ts' },
    status: 'completed',
  });
  const mentioned = item('completed', {
    id: 'm',
    type: 'command_execution',
    command: 'cat a.ts',
    status: 'completed',
  });
  const update = (id: number, text: string): object =>
    change(id, [{ path: 'a.ts', kind: 'update' }], `@@ -1 +1 @@\n-x\n+${text}\n`);
  test.plant(
    'one',
    [
      line(1, run, '2026-01-01T00:00:00.000Z'),
      line(2, update(1, 'old'), '2026-01-01T00:00:01.000Z'),
      line(3, read, '2026-01-01T00:00:09.000Z'),
    ].join(''),
  );
  test.plant(
    'two',
    [
      line(1, run, '2026-01-01T00:00:02.000Z'),
      line(2, update(1, 'mid'), '2026-01-01T00:00:02.000Z'),
      line(3, update(2, 'new'), null),
      line(4, mentioned, null),
    ].join(''),
  );
  const rows = (query: BlameQuery): unknown =>
    blameStore(test.store, ['one', 'two'], query).map(({ session, seq, refs }) => [
      session,
      seq,
      refs[0]?.op,
    ]);
  expect(rows({ path: '/w/a.ts' })).toEqual([
    ['two', 3, 'update'],
    ['two', 2, 'update'],
    ['one', 2, 'update'],
  ]);
  expect(rows({ path: 'a.ts', ops: ['read', 'mention'] })).toEqual([
    ['one', 3, 'read'],
    ['two', 4, 'mention'],
  ]);
  expect(rows({ path: '/elsewhere/a.ts' })).toEqual([]);
  expect(named(blameLineInStore(test.store, ['one', 'two'], { path: 'a.ts' }, 1))).toEqual(['two', 3, 'new']);
  expect(
    test.reading('one', (reader) => blameSession(reader, { path: 'a.ts' })).map(({ seq }) => seq),
  ).toEqual([2]);
});

test('a clock that went back changes nothing within a session, and a session is as new as it has ever been', async () => {
  const test = await LogPlace.make();
  const update = (seq: number, ts: string): string =>
    line(seq, change(seq, [{ path: 'a.ts', kind: 'update' }], `@@ -1 +1 @@\n-x\n+${seq}\n`), ts);
  test.plant('one', update(1, '2026-01-01T00:00:09.000Z') + update(2, '2026-01-01T00:00:01.000Z'));
  test.plant('two', update(1, '2026-01-01T00:00:05.000Z'));
  const rows = blameStore(test.store, ['one', 'two'], { path: 'a.ts' });
  expect(rows.map(({ session, seq }) => `${session}:${seq}`)).toEqual(['one:2', 'one:1', 'two:1']);
});

test('blame that is stopped gives the rows that were found, says so, and names nobody for a line', async () => {
  const test = await LogPlace.make();
  const update = (text: string, seq: number): string =>
    line(seq, change(seq, [{ path: 'a.ts', kind: 'update' }], `@@ -1 +1 @@\n-x\n+${text}\n`), null);
  test.plant('one', update('old', 1));
  test.plant('two', update('new', 1) + update('newer', 2));
  const same = (text: string): string => text;
  const open = test.store.read.bind(test.store);
  const spy = jest.spyOn(test.store, 'read');
  const stoppedIn = async (session: string | null, at: number | null): Promise<BlameReport> => {
    const stop = new AbortController();
    spy.mockImplementation((...given) => {
      if (given[0] === session) stop.abort();
      return open(...given);
    });
    return await blame(test.store, { path: 'a.ts', line: at, signal: stop.signal }, same);
  };
  const rowsOf = ({ records, partial }: BlameReport): unknown => [
    records.map(({ session, seq }) => `${session}:${seq}`),
    partial,
  ];
  expect(rowsOf(await stoppedIn(null, null))).toEqual([['two:2', 'two:1', 'one:1'], false]);
  expect(rowsOf(await stoppedIn('two', null))).toEqual([['one:1'], true]);
  expect(rowsOf(await stoppedIn('one', null))).toEqual([[], true]);
  expect((await stoppedIn(null, 1)).origin).toMatchObject({ status: 'added', text: 'newer' });
  expect(await stoppedIn('two', 1)).toMatchObject({ origin: null, partial: true });
  spy.mockRestore();
});

function named(origin: LineOrigin): unknown {
  return origin.status === 'added' ? [origin.record.session, origin.record.seq, origin.text] : origin.reason;
}
