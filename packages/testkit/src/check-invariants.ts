import { isTurnlogError } from '@turnlog/kernel';
import { type Attempt, Attempts, lineOf } from './attempts.js';
import type { EngineOptions, EngineUnderTest, LogUnderTest } from './engine-under-test.js';
import type { FakeClock } from './fake-clock.js';
import { FakeLockTable } from './fake-locks.js';
import { frameProblems, isFrameMark } from './frame-model.js';
import { evictedLeavesOf, type NaiveHistory, readHistory } from './history-model.js';
import { type NaiveLog, type NaiveRecord, naiveIndex, naiveLeaf, naiveManifest } from './log-model.js';
import type { ModelFileSystem } from './model-fs.js';
import { createTestMachine, type TestMachine } from './test-machine.js';

/** A log directory on a modelled disk and the engine that is to open it. */
export interface Subject {
  readonly engine: EngineUnderTest;
  readonly fs: ModelFileSystem;
  readonly clock: FakeClock;
  readonly directory: string;
  readonly sessionId: string;
  readonly options?: EngineOptions;
  /** Whether somebody cut the log from outside: only then may a recovery miss records that a manifest knew. */
  readonly isCutFromOutside?: boolean;
  /** Opened with these at the end, upkeep must bring what the crash interrupted to its end, and lose nothing. */
  readonly upkeep?: EngineOptions;
  /** Leaves that the log had before anything could go wrong: whatever happens, its history begins with them. */
  readonly leavesBefore?: readonly Buffer[];
}

/**
 * - `recovery`: what is there after open, and after open once more.
 * - `thorough`: also that work goes on, and that everything derived is rebuilt equal after it was deleted.
 */
export type CheckDepth = 'recovery' | 'thorough';

/**
 * Opens the log and compares it with what was promised and with the naive reading of its bytes. The answer lists
 * what is wrong, each sentence beginning with the invariant; an empty list is what everybody hopes for.
 */
export async function checkInvariants(
  subject: Subject,
  attempts: Attempts,
  depth: CheckDepth = 'thorough',
): Promise<readonly string[]> {
  const checker = new Checker(subject, new Attempts(attempts.list));
  try {
    await checker.run(depth);
  } catch (error) {
    checker.problems.push(`open or use failed: ${describe(error)}`);
  }
  return checker.problems;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` <- ${describe(error.cause)}` : '';
  const details = isTurnlogError(error) ? ` ${error.code} ${JSON.stringify(error.details)}` : '';
  return `${error.message}${details}${cause} ${error.stack?.split('\n').slice(1, 5).join(' ') ?? ''}`;
}

interface Snapshot {
  readonly events: Buffer | null;
  readonly manifest: string | null;
  readonly turns: string | null;
}

class Checker {
  readonly problems: string[] = [];
  readonly #subject: Subject;
  readonly #attempts: Attempts;

  constructor(subject: Subject, attempts: Attempts) {
    this.#subject = subject;
    this.#attempts = attempts;
  }

  async run(depth: CheckDepth): Promise<void> {
    const machine = this.#machine(1);
    const log = await this.#open(machine);
    if (log === null) return;
    const opened = this.snapshot();
    this.#checkOpened(opened);
    await log.close();
    this.#checkClosed('I8 after the first close');
    const closed = this.snapshot();
    const again = await this.#open(this.#machine(2));
    if (again === null) {
      this.problems.push('I6 a log that was open and closed cannot be opened again');
      return;
    }
    this.#compare('I6 open twice', closed, this.snapshot());
    if (depth === 'thorough') this.#goOn(again, closed);
    await again.close();
    this.#checkClosed('I8 after the second close');
    if (depth === 'thorough') await this.#checkRebuilt();
    if (depth === 'thorough') await this.#checkUpkeep();
  }

  snapshot(): Snapshot {
    const { directory } = this.#subject;
    return {
      events: this.#content(`${directory}/events.jsonl`),
      manifest: this.#content(`${directory}/manifest.json`)?.toString() ?? null,
      turns: this.#content(`${directory}/index/turns.jsonl`)?.toString('latin1') ?? null,
    };
  }

  #machine(seed: number): TestMachine {
    const { fs, clock } = this.#subject;
    return createTestMachine({ fs, clock, lockTable: new FakeLockTable(), seed });
  }

  async #open(machine: TestMachine): Promise<LogUnderTest | null> {
    const { engine, directory, sessionId, options = {} } = this.#subject;
    this.#attempts.durability = options.durability ?? 'turn';
    try {
      return await engine.open(machine, directory, sessionId, options);
    } catch (error) {
      if (!isTurnlogError(error, 'TURNLOG_LOG_UNREADABLE')) throw error;
      // Bytes without a record are never an empty session; nothing promised may be among them.
      this.#checkRecords(this.#history(this.snapshot().events));
      return null;
    }
  }

  #history(events: Buffer | null): NaiveHistory {
    const { directory } = this.#subject;
    return readHistory(events ?? Buffer.alloc(0), (name) => this.#content(`${directory}/${name}`));
  }

  #content(path: string): Buffer | null {
    const { fs } = this.#subject;
    return fs.status(path) === null ? null : Buffer.from(fs.contentOf(path));
  }

  #checkOpened(opened: Snapshot): void {
    const history = this.#history(opened.events);
    const { log } = history;
    this.#checkRecords(history);
    if (log.bytes.length > 0) this.#checkDerived(history, opened);
    if (log.bytes.length > 0 && log.bytes.at(-1) !== 0x0a)
      this.problems.push('T-10 the last line has no end');
  }

  /** I1, I2: of the whole history, archives first. */
  #checkRecords(history: NaiveHistory): void {
    const { log, whole } = history;
    this.problems.push(...history.problems);
    const byText = new Map(this.#attempts.list.map((attempt) => [attempt.text, attempt]));
    const turnOf = turnsOf(whole);
    const found = new Set<Attempt>(this.#dropped(history));
    const summarized = new Set<string>();
    let lastSeq = history.droppedTo;
    for (const record of whole.records) {
      this.#expect(record.seq > lastSeq, `I2 seq ${record.seq} follows ${lastSeq}`);
      lastSeq = record.seq;
      const line = lineOf({ ...record, ts: record.ts ?? '' });
      this.#expect(line === record.bytes.toString(), `I1 record ${record.seq} is not as written: ${line}`);
      if (String(record.event['type']).startsWith('log.')) {
        this.#checkReport(record, summarized);
        continue;
      }
      if (isFrameMark(record)) continue;
      const attempt = byText.get(record.text);
      if (attempt === undefined) {
        this.problems.push(`I1 record ${record.seq} was never appended: ${record.text}`);
        continue;
      }
      this.#expect(!found.has(attempt), `I1 ${attempt.text} is there twice`);
      found.add(attempt);
      this.#checkPromises(attempt, record, turnOf.get(record.seq) ?? null);
    }
    const isPromised = (text: string): boolean => byText.get(text)?.fate === 'durable';
    this.problems.push(...frameProblems(whole.records, isPromised));
    for (const attempt of this.#attempts.list) {
      const isThere = attempt.fate !== 'durable' || found.has(attempt);
      this.#expect(isThere, `I1 ${attempt.text} (seq ${attempt.seq}) was durable and is gone`);
    }
    const turnOfKept = turnsOf(log);
    for (const { seq } of log.records) {
      const [kept, all] = [turnOfKept.get(seq), turnOf.get(seq)];
      this.#expect(kept === all, `I2 record ${seq} is in turn ${kept}, and without any eviction in ${all}`);
    }
    this.#checkLeaves(history);
  }

  /** What was dropped and has its hash in the leaves: as good as there. */
  #dropped({ log, leaves, droppedCount }: NaiveHistory): readonly Attempt[] {
    if (droppedCount === 0) return [];
    const times = new Set(
      [log.header?.event['first_ts'], log.header?.event['last_ts'], ...log.records.map(({ ts }) => ts)].map(
        String,
      ),
    );
    const hashes = new Set(leaves.slice(0, droppedCount).map((leaf) => leaf.toString('hex')));
    return this.#attempts.list.filter(({ seq, key, text }) =>
      [...times].some((ts) => {
        const line = Buffer.from(lineOf({ seq: seq ?? 0, ts, key, text }));
        return seq !== null && hashes.has(naiveLeaf(line).toString('hex'));
      }),
    );
  }

  #checkLeaves({ leaves }: NaiveHistory): void {
    const { leavesBefore = [], isCutFromOutside = false } = this.#subject;
    const firstBad = leavesBefore.findIndex((leaf, at) => leaves[at]?.equals(leaf) !== true);
    this.#expect(firstBad === -1 || isCutFromOutside, `I1 leaf ${firstBad} is another than before`);
  }

  /** I4: a manifest that a crash left behind never knew more than what was durable. */
  #checkReport({ seq, event }: NaiveRecord, summarized: Set<string>): void {
    const isLost = event['reason'] === 'tail_lost';
    if (event['type'] === 'log.summary') {
      const { id } = event;
      this.#expect(!summarized.has(String(id)), `I1 ${id} is summarized twice`);
      summarized.add(String(id));
    }
    this.#expect(!isLost || this.#subject.isCutFromOutside === true, `I4 record ${seq} misses a tail`);
  }

  /** What its caller was told of a record that is there. Records stand in the order of the promised seqs. */
  #checkPromises(attempt: Attempt, record: NaiveRecord, turn: number | null): void {
    const { text, fate, seq } = attempt;
    this.#expect(fate !== 'refused', `I7 ${text} was refused and is there`);
    this.#expect(attempt.key === record.key, `I1 key of ${record.seq} differs`);
    this.#expect(seq === null || seq === record.seq, `I1 ${text} was promised seq ${seq}, has ${record.seq}`);
    const isTurnRight = fate !== 'durable' || attempt.turn === null || attempt.turn === turn;
    this.#expect(isTurnRight, `I2 ${text} was in turn ${attempt.turn} and is in ${turn}`);
  }

  #expect(isRight: boolean, problem: string): void {
    if (!isRight) this.problems.push(problem);
  }

  /** I4, I5 */
  #checkDerived(history: NaiveHistory, files: Snapshot): void {
    const { log } = history;
    const { sessionId } = this.#subject;
    const { manifest, turns } = files;
    if (manifest === null) {
      this.problems.push('I5 no manifest after open');
      return;
    }
    const found = JSON.parse(manifest) as { turnlog: { generation: string; damage: unknown } };
    const { generation, damage } = found.turnlog;
    const damaged = log.isDamaged ? damage : undefined;
    const expected = naiveManifest(log, sessionId, generation, damaged, evictedLeavesOf(history));
    // A crash may take the line end behind the manifest, of which nobody needs it.
    if (manifest.trimEnd() !== expected.trimEnd()) {
      this.problems.push(`I5 manifest: ${differences(expected, manifest)}`);
    }
    this.#checkIndex(naiveIndex(log, sessionId, generation), turns ?? '');
  }

  /**
   * Bytes behind the published length are ignored. Within it an index may have lost a line in the middle: open
   * reads its first and last line only, and whoever reads the body must be able to tell.
   */
  #checkIndex(expected: string, found: string): void {
    if (found.startsWith(expected)) return;
    const lines = found.slice(0, expected.length).split('\n');
    const good = expected.split('\n');
    const firstBad = lines.findIndex((line, position) => line !== good[position]);
    if (isTellingJson(lines[firstBad] ?? '')) {
      this.problems.push(`I5 index ${JSON.stringify(found)} instead of ${expected}`);
    }
  }

  #compare(what: string, before: Snapshot, after: Snapshot): void {
    const isSame =
      (before.events === null ? after.events === null || after.events.length === 0 : false) ||
      (before.events !== null && after.events !== null && before.events.equals(after.events));
    if (!isSame) this.problems.push(`${what}: the log differs: ${before.events} | ${after.events}`);
    if (before.manifest?.trimEnd() !== after.manifest?.trimEnd()) {
      this.problems.push(`${what}: the manifest differs: ${differences(before.manifest, after.manifest)}`);
    }
    if (before.turns !== after.turns) {
      this.problems.push(`${what}: the index differs: ${before.turns} | ${after.turns}`);
    }
  }

  /** After a recovery the log takes records as if nothing had been. */
  #goOn(log: LogUnderTest, before: Snapshot): void {
    const attempts = this.#attempts;
    for (const name of ['start', 'note', 'complete', 'note'] as const) {
      const { lastSeq } = log;
      const seq = attempts.append(log, name);
      if (seq !== lastSeq + 1) this.problems.push(`I2 seq ${seq} was given after ${lastSeq}`);
    }
    attempts.sync(log);
    const after = this.snapshot();
    if (
      !(after.events ?? Buffer.alloc(0))
        .subarray(0, before.events?.length ?? 0)
        .equals(before.events ?? Buffer.alloc(0))
    ) {
      this.problems.push('I1 an append changed what was there');
    }
    this.#checkOpened(after);
  }

  /** I3: events.jsonl alone gives everything back. */
  async #checkRebuilt(): Promise<void> {
    const { fs, directory } = this.#subject;
    const before = this.snapshot();
    for (const path of [
      `${directory}/manifest.json`,
      `${directory}/index/turns.jsonl`,
      `${directory}/index/keys.jsonl`,
    ]) {
      if (fs.status(path) !== null) fs.removeFile(path);
    }
    const log = await this.#open(this.#machine(3));
    if (log === null) return;
    const after = this.snapshot();
    this.#compare('I3 rebuilt', withoutGeneration(before), withoutGeneration(after));
    await log.close();
    this.#checkClosed('I8 after the third close');
  }

  /** What a crash interrupted is brought to its end by the next run, and nothing is lost or done twice. */
  async #checkUpkeep(): Promise<void> {
    const { engine, directory, sessionId, upkeep } = this.#subject;
    if (upkeep === undefined) return;
    const before = this.#history(this.snapshot().events);
    const log = await engine.open(this.#machine(4), directory, sessionId, upkeep);
    await log.maintain();
    await log.close();
    const closed = this.snapshot();
    this.#checkOpened(closed);
    this.#checkClosed('I8 after upkeep');
    const after = this.#history(closed.events);
    const isSame = before.leaves.every((leaf, at) => after.leaves[at]?.equals(leaf) === true);
    this.#expect(isSame, 'I1 upkeep changed what the log had');
    this.#expect(after.log.header !== null, 'T-67 upkeep did not cut the log');
  }

  /** I8 */
  #checkClosed(when: string): void {
    const { fs, clock, directory } = this.#subject;
    if (fs.openHandleCount !== 0) this.problems.push(`${when}: ${fs.openHandleCount} files are open`);
    if (clock.waitingCount !== 0) this.problems.push(`${when}: ${clock.waitingCount} timers wait`);
    for (const path of [directory, `${directory}/index`, `${directory}/archive`]) {
      if (fs.status(path) === null) continue;
      for (const { name } of fs.list(path)) {
        if (/^\.t-|^session\.|pending/.test(name)) this.problems.push(`${when}: ${path}/${name} is left`);
      }
    }
  }
}

/** The turn of each record that is in one, by seq. */
function turnsOf({ turns }: NaiveLog): ReadonlyMap<number, number> {
  return new Map(turns.flatMap(({ turn, records }) => records.map(({ seq }) => [seq, turn] as const)));
}

/** The members in which two texts of JSON objects differ, for a report. */
function differences(expected: string | null, found: string | null, at = ''): string {
  if (expected === null || found === null) return `${expected ?? 'nothing'} | ${found ?? 'nothing'}`;
  const [left, right] = [expected, found].map((text) => Object(JSON.parse(text)) as Record<string, unknown>);
  const names = new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})]);
  const different = [...names].filter(
    (name) => JSON.stringify(left?.[name]) !== JSON.stringify(right?.[name]),
  );
  return different
    .map((name) => {
      const [one, other] = [JSON.stringify(left?.[name]), JSON.stringify(right?.[name])];
      if (one?.startsWith('{') && other?.startsWith('{')) return differences(one, other, `${at}${name}.`);
      return `${at}${name}: ${one} | ${other}`;
    })
    .join(', ');
}

/** Whether a reader of the turn index would take this line for one of its lines. */
function isTellingJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    // Exactly what tells the reader.
    return false;
  }
}

const generationForm = /"generation":"[0-9a-f]{32}"/g;

function withoutGeneration(files: Snapshot): Snapshot {
  return {
    events: files.events,
    manifest: files.manifest?.replace(generationForm, '') ?? null,
    turns: files.turns?.replace(generationForm, '') ?? null,
  };
}
