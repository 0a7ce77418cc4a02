import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodes } from '@turnlog/kernel';
import { errorExits, shownCode } from '../src/exit-codes.js';
import { writtenFlag } from '../src/flag.js';
import { globalFlags } from '../src/flags.js';
import { subVerbsOf } from '../src/verb.js';
import { verbs } from '../src/verbs.js';
import { frozenInterface, namedCodes, readInterface, specifiedInterface } from './specified-interface.js';
import { TestProgram } from './support.js';

const specified = frozenInterface();

/** What is specified and not there yet, by what it comes with. Whoever brings it takes it off this list. */
const comesLater: Readonly<Record<string, readonly string[]>> = {
  'knowledge, assets and claims that leave': [
    'gc --knowledge-age',
    'gc --tombstone-grace',
    'gc --versions',
    'gc --asset-grace',
    'gc --max-rows',
  ],
  'assets of messages': ['show --attachments'],
  'joining lines that were cut in two': ['doctor --join-lines'],
  'durable sessions of agents': [
    'session status',
    'session info',
    'session close',
    'session fork',
    'session rebind',
    'session recover',
    'session compact',
    'session --at',
    'session --to',
    'session --subtype',
    'session --accept-unknown-effects',
    'session --context',
    'session --all',
    'jobs',
    'knowledge',
  ],
  memory: [
    'memory',
    'memory people',
    'memory chronicle',
    'memory ingest',
    'memory identity',
    'wiki',
    'skills',
  ],
  'the viewer': ['serve'],
};

const later = Object.values(comesLater).flat();
const ofEveryVerb = globalFlags.map(writtenFlag);
const flagsOf = (name: string): readonly string[] => {
  const verb = verbs.find((each) => each.name === name);
  return verb === undefined ? [] : [...verb.flags.map(writtenFlag), ...ofEveryVerb];
};

/** Everything that is specified and not there, one line each. */
function missing(): readonly string[] {
  return Object.entries(specified.verbs).flatMap(([name, { subVerbs, flags }]) => {
    const verb = verbs.find((each) => each.name === name);
    if (verb === undefined) return [name];
    const present = new Set([...subVerbsOf(verb), ...(verb.variants ?? []), ...flagsOf(name)]);
    return [...subVerbs, ...flags].filter((each) => !present.has(each)).map((each) => `${name} ${each}`);
  });
}

test('I-27 the copy of the verb table and of the codes is what the specification says', () => {
  expect(specifiedInterface() ?? specified).toEqual(specified);
  expect(Object.keys(specified.verbs).length).toBeGreaterThan(30);
});

test('I-27 every verb, sub-verb and flag of the table exists under its name, or is known to come later', () => {
  expect([...missing()].sort()).toEqual([...later].sort());
  expect(new Set(later).size).toBe(later.length);
  const anywhere = new Set([...verbs.flatMap(({ name }) => flagsOf(name)), ...ofEveryVerb]);
  expect(specified.globalFlags.filter((flag) => !anywhere.has(flag))).toEqual([]);
});

/** Flags that no row of the table has, and the rule that asks for them. */
const elsewhere: Readonly<Record<string, string>> = {
  'show --force': 'CL-27',
  'tail --force': 'CL-27',
};

test('I-27 no verb, sub-verb or flag is undocumented: each is in the specification, the help and the README', async () => {
  const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');
  const help = (await new TestProgram().run(['--help'])).stdout;
  const undocumented: string[] = [];
  for (const verb of verbs) {
    const row = specified.verbs[verb.name];
    const known = [...(row?.subVerbs ?? []), ...(row?.flags ?? []), ...specified.globalFlags];
    const own = [...subVerbsOf(verb), ...(verb.variants ?? []), ...verb.flags.map(writtenFlag)];
    undocumented.push(
      ...own
        .map((each) => `${verb.name} ${each}`)
        .filter((each) => !(each in elsewhere))
        .filter((each) => !known.includes(each.slice(verb.name.length + 1))),
    );
    const isTold = [readme, help].every((text) => new RegExp(`(?:\`| )${verb.name}\\b`).test(text));
    if (row === undefined || !isTold) undocumented.push(verb.name);
    const page = (await new TestProgram().run([verb.name, '--help'])).stdout;
    undocumented.push(...own.filter((each) => !page.includes(each)).map((each) => `${verb.name} ${each}`));
  }
  undocumented.push(...ofEveryVerb.filter((flag) => !specified.globalFlags.includes(flag)));
  expect(undocumented).toEqual([]);
});

const repeated = (names: readonly string[]): readonly string[] =>
  names.filter((name, index) => names.indexOf(name) !== index);

test('I-27 nothing has two names, and no name means two things', async () => {
  expect(repeated(verbs.map(({ name }) => name))).toEqual([]);
  // What does the work of one verb does not do that of another.
  const commands = await Promise.all(verbs.map(({ load }) => load()));
  expect(new Set(commands).size).toBe(commands.length);
  for (const { name, flags } of verbs) {
    expect(repeated(flagsOf(name))).toEqual([]);
    expect(repeated([...flags, ...globalFlags].map(({ help }) => help))).toEqual([]);
  }
});

test('I-27 a shortened name is no second name', async () => {
  const program = new TestProgram();
  for (const { name } of verbs.filter(
    (verb) => !verbs.some((each) => each.name === verb.name.slice(0, -1)),
  )) {
    expect([name, (await program.run([name.slice(0, -1), '--help'])).exit]).toEqual([name, 2]);
  }
  const names = globalFlags.map(({ name }) => name).filter((name) => name.length > 2);
  for (const name of names.filter((each) => !names.includes(each.slice(0, -1)))) {
    expect([name, (await program.run(['sessions', `--${name.slice(0, -1)}`])).exit]).toEqual([name, 2]);
  }
});

/** Told beside a result, never instead of one: they have no exit of their own. */
const maintenance: readonly string[] = ['hook-failed', 'archive-failed'];

test('I-27 every code has one exit, and it is the one that is specified', () => {
  const rows = Object.entries(specified.exits).flatMap(([exit, codes]) =>
    codes.map((code): readonly [code: string, exit: number] => [code, Number(exit)]),
  );
  expect(repeated(rows.map(([code]) => code))).toEqual([]);
  const exitOf = new Map(rows);
  const ours = Object.entries(errorExits)
    .map(([code, exit]): readonly [code: string, exit: number] => [
      code.slice('TURNLOG_'.length).toLowerCase().replaceAll('_', '-'),
      exit,
    ])
    .filter(([code]) => !maintenance.includes(code));
  for (const [code, exit] of ours) expect([code, exit]).toEqual([code, exitOf.get(code)]);
  expect(Object.keys(errorCodes).sort()).toEqual(Object.keys(errorExits).sort());
});

test('I-27 every code that a specification names is in the table of exits', () => {
  const codes = Object.values(specified.exits).flat();
  const named = namedCodes() ?? Object.keys(errorExits).map((code) => code.slice('TURNLOG_'.length));
  expect(named.length).toBeGreaterThan(20);
  const shown = named.map((code) => code.toLowerCase().replaceAll('_', '-'));
  expect(shown.filter((code) => !codes.includes(code) && !maintenance.includes(code))).toEqual([]);
  expect(shownCode('TURNLOG_STALE_HEAD')).toBe('stale-head');
});

test('the table is read as it is written', () => {
  const read = readInterface(
    [
      'Global flags: `--root DIR` `-C DIR` (x) `--json`; lists: `--limit N`.',
      '| exit | meaning | codes |',
      '| 1 | negative result | no-match, gone (with the first seq) |',
      '| 130, 143 | signals | – |',
      '| `do ID` | does `--this` at-most-once | `--that a,b-c` | log 3 |',
      '| `things …` | `list` · `show ID` · `fork ID --at SEQ` | list `--all` | |',
      '| `play DIR` · `play bisect DIR` | code | bisect `--good REV` | |',
      '| 1 | another table | |',
    ].join('\n'),
  );
  expect(read).toEqual({
    verbs: {
      do: { subVerbs: [], flags: ['--this', '--that'] },
      things: { subVerbs: ['list', 'show', 'fork'], flags: ['--at', '--all'] },
      play: { subVerbs: ['bisect'], flags: ['--good'] },
    },
    globalFlags: ['--root', '-C', '--json', '--limit'],
    exits: { '1': ['no-match', 'gone'] },
  });
});
