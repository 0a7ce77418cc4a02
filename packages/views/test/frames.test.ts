import { invalidJournal } from '@turnlog/log';
import { checkUp } from '@turnlog/store';
import {
  crashOpens,
  cutsOf,
  everywhere,
  expectCutWithoutEffect,
  expectVoided,
  type Framed,
  framedLedger,
  framedSession,
  isCrashed,
  ledger,
  mark,
  type Subject,
  session,
} from './framed.js';
import { digestOfLines, line, type TestStore } from './support.js';

const subjects = [
  [session, framedSession],
  [ledger, framedLedger],
] as const;

/** The lines of a log with a frame, each with its 0x0A. */
interface Lines {
  readonly before: readonly string[];
  readonly begin: string;
  readonly members: readonly string[];
  readonly commit: string;
  /** Seq of the commit. */
  readonly seq: number;
}

function linesOf({ bytes, from }: Framed): Lines {
  const split = (part: Buffer): readonly string[] => part.toString().match(/[^\n]*\n/g) ?? [];
  const before = split(bytes.subarray(0, from));
  const [begin = '', ...rest] = split(bytes.subarray(from));
  const members = rest.slice(0, -1);
  return { before, begin, members, commit: rest.at(-1) ?? '', seq: before.length + rest.length + 1 };
}

/** What ends a frame before its commit. */
function endings(family: string, { seq }: Lines): readonly (readonly string[])[] {
  const voided = { type: `${family}.void`, frame: 'f-1', reason: 'unfinished' };
  const recovered = { type: 'log.recovered', reason: 'torn_tail', damage: [], open_turn: null };
  const note = line(seq + 1, { type: 'x.test.note' });
  const kind = family === 'job' ? 'memory' : 'plan';
  return [
    [line(seq, voided)],
    [line(seq, recovered), line(seq + 1, voided)],
    [
      line(seq, { type: `${family}.begin`, frame: 'f-2', fence: null, kind }),
      note,
      line(seq + 2, { type: `${family}.commit`, frame: 'f-2', count: 1, sha256: digestOfLines([note]) }),
    ],
    [],
  ];
}

/** Commits that do not fit, by the rule they break. */
function brokenCommits({
  members,
  commit,
}: Lines): Readonly<Record<string, (lines: Lines) => readonly string[]>> {
  const changed = (from: string | RegExp, to: string) => (lines: Lines) => [
    lines.begin,
    ...lines.members,
    commit.replace(from, to),
  ];
  return {
    'no-begin': () => [...members, commit],
    'other-frame': changed('"f-1"', '"f-7"'),
    count: changed(/"count":\d+/, '"count":77'),
    digest: changed(/"sha256":"../, '"sha256":"zz'),
  };
}

async function brokenFound({ store }: TestStore): Promise<readonly string[]> {
  const { findings } = await checkUp(store.environment, store.root, { depth: 'whole-log' });
  return findings.filter(({ kind }) => kind === 'broken-frame').map(({ message }) => message);
}

async function plantLines(subject: Subject, lines: readonly string[]): Promise<TestStore> {
  return subject.plant(Buffer.from(lines.join('')));
}

test('C-58 a frame without its commit has no effect and is closed by the next writer; one whose commit does not fit has none and is reported', async () => {
  for (const [subject, make] of subjects) {
    const framed = await make();
    const lines = linesOf(framed);
    const unfinished = [...lines.before, lines.begin, ...lines.members];
    for (const ending of endings(subject.family, lines)) {
      const place = await plantLines(subject, [...unfinished, ...ending]);
      expect(await subject.showingAnywhere(place)).toEqual([]);
      expect(subject.raw(place)).toContain(mark);
      expect(await brokenFound(place)).toEqual([]);
      await subject.owned(place);
      const whole = unfinished.length + ending.length;
      const cut = { at: 0, whole, isTorn: false };
      if (ending.length === 0) expectVoided(subject, place, cut, 'one');
      else expect(place.disk.contentOf(subject.log)).toHaveLength([...unfinished, ...ending].join('').length);
      expect(await subject.showingAnywhere(place)).toEqual([]);
    }
    for (const [rule, broken] of Object.entries(brokenCommits(lines))) {
      const shown = rule === 'no-begin' ? lines.members.length > 0 : false;
      const stored = [...lines.before, ...broken(lines)];
      const place = await plantLines(subject, stored);
      // Without a begin the members are records like any other; the commit brings nothing to them.
      expect((await subject.showingAnywhere(place)).length > 0).toBe(shown);
      expect(subject.raw(place)).toContain(mark);
      expect(await brokenFound(place)).toEqual([expect.stringContaining(`(${rule})`)]);
      await subject.owned(place);
      expect(Buffer.from(place.disk.contentOf(subject.log)).toString()).toBe(stored.join(''));
    }
    expect(
      invalidJournal('/log', { beginSeq: 1, commitSeq: 3, frame: 'f-1', fault: 'digest' }),
    ).toMatchObject({ code: 'TURNLOG_INVALID_JOURNAL', details: { path: '/log', seq: 3, rule: 'digest' } });
  }
});

test('T-104 a frame cut at every byte has no effect, in a session and in the ledger, read only, owned, shared, and when that open crashes', async () => {
  for (const [subject, make] of subjects) {
    const framed = await make();
    const whole = await subject.plant(framed.bytes);
    // Every reader shows it once it is committed: that is what the cuts are measured by.
    expect(await subject.showingAnywhere(whole)).toHaveLength(subject === session ? everywhere : 2);
    const committed = await subject.plant(framed.bytes.subarray(0, -1));
    expect(subject.showing(committed)).not.toEqual([]);
    const numbers = subject.numbers(await subject.plant(framed.bytes.subarray(0, framed.from)));
    let disks = 0;
    for (const cut of cutsOf(framed)) {
      await expectCutWithoutEffect(subject, framed, cut, numbers);
      if (isCrashed(framed.bytes, cut)) disks += await crashOpens(subject, framed, cut);
    }
    expect(disks).toBeGreaterThan(100);
  }
}, 120_000);
