import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SeededRandom } from '@turnlog/testkit';
import { findSources } from '../src/index.js';
import { fileOf, lineFormats } from './line-formats.js';
import { corpusPath, hasCorpus, sayWithoutCorpus } from './stream-lines.js';
import { importAll, makeThreadDesk, plantFiles, storeSessions } from './thread-files.js';

sayWithoutCorpus('detection');

const seed = Number(process.env['TURNLOG_TEST_SEED'] ?? 9);

type Value = Readonly<Record<string, unknown>>;
type Break = (value: Value) => Value;

const without =
  (...names: readonly string[]): Break =>
  (value) =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

const withMembers =
  (more: Value, ...gone: readonly string[]): Break =>
  (value) => ({ ...without(...gone)(value), ...more });

interface Known {
  readonly format: string;
  /** As its producer names its files. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The first object of a file, and ways to leave it without something that makes it one of the format. */
  readonly first: Value;
  readonly breaks: readonly Break[];
}

const firstOf = (bytes: Uint8Array): Value =>
  JSON.parse(Buffer.from(bytes).toString().split('\n')[0] ?? '') as Value;

const lineBreaks: Readonly<Record<string, readonly Break[]>> = {
  'claude-code': [
    without('type'),
    withMembers({ type: 5 }),
    withMembers({ type: null }),
    without('sessionId', 'uuid'),
    without('sessionId', 'message'),
    withMembers({ sessionId: 7 }, 'uuid'),
    withMembers({ sessionId: null, message: 'do it' }),
    withMembers({ sessionid: 's', UUID: 'u' }, 'sessionId', 'uuid'),
    withMembers({ leafUuid: 3, snapshot: [] }, 'sessionId', 'uuid'),
    withMembers({ payload: {} }, 'timestamp'),
  ],
  'codex-rollout': [
    without('payload'),
    withMembers({ payload: [] }),
    withMembers({ payload: 'x' }),
    withMembers({ payload: null }),
    without('timestamp'),
    without('type'),
    withMembers({ type: 3 }),
    withMembers({ Payload: {} }, 'payload'),
    withMembers({ time: 't' }, 'timestamp'),
  ],
  'codex-exec': [
    without('type'),
    withMembers({ type: 'thread_started' }),
    withMembers({ type: 'Thread.Started' }),
    withMembers({ type: ' thread.started' }),
    withMembers({ type: 'thread.starte' }),
    withMembers({ type: 'item' }),
    withMembers({ type: ['thread.started'] }),
    withMembers({ schema_version: '0.18.0' }),
    withMembers({ kind: 'thread.started' }, 'type'),
  ],
  'claude-stream': [
    without('session_id'),
    withMembers({ session_id: 5 }),
    withMembers({ session_id: null }),
    withMembers({ type: 'System' }),
    withMembers({ type: 'init' }),
    without('type'),
    withMembers({ type: true }),
    withMembers({ session: 's' }, 'session_id'),
  ],
  vtcode: [
    without('event'),
    withMembers({ event: {} }),
    withMembers({ event: [] }),
    withMembers({ event: 'thread.started' }),
    withMembers({ event: { type: 4 } }),
    withMembers({ event: { Type: 'thread.started' } }),
    withMembers({ event: null }),
    without('schema_version'),
    withMembers({ events: [{ type: 'thread.started' }] }, 'event'),
  ],
};

/** Files of VT Code that are no log. */
const others: readonly Known[] = [
  {
    format: 'vtcode-archive',
    name: 'session-w-20260312T113304Z_500000-00042.json',
    first: {
      metadata: { workspace_path: '/repo', model: 'm' },
      total_messages: 1,
      messages: [{ role: 'user', content: 'do it' }],
    },
    breaks: [
      without('metadata'),
      without('messages'),
      withMembers({ metadata: [] }),
      withMembers({ metadata: { workspace_path: 4 } }),
      withMembers({ metadata: { workspace: '/repo' } }),
      withMembers({ messages: {} }),
      withMembers({ messages: null }),
    ],
  },
  {
    format: 'vtcode-history',
    name: 's-1_0003_20260312T113600Z.jsonl',
    first: { session_id: 's-1', turn_number: 3, reason: 'summarization', message_count: 0 },
    breaks: [
      without('session_id'),
      without('turn_number'),
      withMembers({ turn_number: '3' }),
      withMembers({ session_id: 1 }),
      withMembers({ turn: 3 }, 'turn_number'),
    ],
  },
  {
    format: 'vtcode-memory',
    name: 's-1.memory.json',
    first: { session_id: 's-1', summary: 'x', grounded_facts: [], generated_at: '2026-03-12T11:39:00Z' },
    breaks: [
      without('session_id'),
      without('grounded_facts'),
      withMembers({ grounded_facts: {} }),
      withMembers({ session_id: null }),
    ],
  },
  {
    format: 'vtcode-trajectory',
    name: 'trajectory.jsonl',
    first: { kind: 'tool', turn: 1, name: 'grep_file', args: {}, ok: true, ts: 1_773_315_187 },
    breaks: [
      without('kind'),
      without('turn'),
      without('ts'),
      withMembers({ kind: 'tools' }),
      withMembers({ turn: '1' }),
      withMembers({ ts: '2026-03-12T11:39:00Z' }),
    ],
  },
].map((known) => ({ ...known, bytes: Buffer.from(`${JSON.stringify(known.first)}\n`) }));

const known: readonly Known[] = [
  ...lineFormats.map((format): Known => {
    const bytes = fileOf(format.lines());
    const breaks = lineBreaks[format.name] ?? [];
    return { format: format.name, name: format.file, bytes, first: firstOf(bytes), breaks };
  }),
  ...others,
];

/** The names of all formats, and one of none. */
const names = ['x', ...known.map(({ name }) => name)];

/** Finds out what many files are, each under each name. */
function formatsOf(files: readonly Uint8Array[]): readonly (readonly (string | null)[])[] {
  return files.map((bytes) => {
    const desk = makeThreadDesk();
    plantFiles(desk, Object.fromEntries(names.map((name, at) => [`${at}/${name}`, bytes])));
    const { found } = findSources(desk.fs, { sources: [{ path: '/foreign' }] });
    return found.map(({ format }) => format);
  });
}

test.each(known.map((each) => [each.format, each] as const))(
  'G-9 %s is recognised under every name',
  (format, { bytes }) => {
    const [found] = formatsOf([bytes]);
    expect(found).toEqual(names.map(() => format));
  },
);

if (hasCorpus) {
  const formatIn: Readonly<Record<string, string>> = {
    claude: 'claude-code',
    codex: 'codex-rollout',
    'codex-exec': 'codex-exec',
    vtcode: 'vtcode',
  };

  const filesIn = (folder: string): readonly Uint8Array[] =>
    readdirSync(corpusPath(folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)).subarray(0, 300_000));

  test.each(Object.entries(formatIn))(
    'G-9 the real files of %s are %s under every name',
    (folder, format) => {
      const found = formatsOf(filesIn(folder));
      expect(found.length).toBeGreaterThan(0);
      for (const formats of found) expect(formats).toEqual(names.map(() => format));
    },
  );

  const elsewhere = ['aider', 'gemini', 'opencode', 'openhands', 'pi', 'swe-agent'];

  test.each(elsewhere)(
    'G-9 the real files of %s are of none of these formats, whatever they are called',
    (folder) => {
      const these: readonly (string | null)[] = known.map(({ format }) => format);
      for (const formats of formatsOf(filesIn(folder))) {
        expect(formats.filter((format) => these.includes(format))).toEqual([]);
      }
    },
  );
}

/** Members that say nothing, in any place. */
const noise: readonly Value[] = [
  {},
  { note: 'x' },
  { version: 1 },
  { data: { type: 'user' } },
  { list: [1] },
  { '': null },
];

interface NearMiss {
  readonly format: string;
  readonly name: string;
  readonly text: string;
}

/** Objects that lack one thing that their format is known by, with members around that say nothing. */
function nearMisses(count: number): readonly NearMiss[] {
  const random = new SeededRandom(seed);
  const pick = <T>(list: readonly T[]): T => {
    const found = list[random.below(list.length)];
    if (found === undefined) throw new Error('the list is empty');
    return found;
  };
  return Array.from({ length: count }, () => {
    const { format, first, breaks } = pick(known);
    const value = { ...pick(noise), ...pick(breaks)(first), ...pick(noise) };
    const members = Object.entries(value);
    const turned = random.below(2) === 0 ? members : members.reverse();
    const line = JSON.stringify(Object.fromEntries(turned));
    const before = pick(['', 'no JSON at all\n', '\n', '[]\n', '"text"\n']);
    return { format, name: pick(names), text: `${before}${line}\n` };
  });
}

test('G-9 1,000 near misses are unknown, counted, and leave no session', async () => {
  const misses = nearMisses(1_000);
  const desk = makeThreadDesk();
  const nameOf = (at: number): string => `${String(at).padStart(4, '0')}/${misses[at]?.name}`;
  plantFiles(desk, Object.fromEntries(misses.map(({ text }, at) => [nameOf(at), Buffer.from(text)])));
  const { found } = findSources(desk.fs, { sources: [{ path: '/foreign' }] });
  const taken = found.flatMap(({ format }, at) => (format === null ? [] : [{ seed, format, ...misses[at] }]));
  expect(taken).toEqual([]);
  const report = await importAll(desk);
  expect([report.outcomes.unknown, report.sources.length, report.isWhole]).toEqual([1_000, 1_000, true]);
  expect(desk.fs.list(storeSessions)).toEqual([]);
  // One that is named is refused, and not only counted.
  const [named] = (await importAll(desk, { sources: [{ path: `/foreign/${nameOf(0)}` }] })).sources;
  expect([named?.outcome, named?.error?.code]).toEqual(['failed', 'TURNLOG_UNKNOWN_SOURCE']);
});
