import { type CapOptions, type OwnedLog, openLogReader, openOwnedLog, transaction } from '@turnlog/log';
import {
  Attempts,
  checkInvariants,
  copyDisk,
  createTestMachine,
  type EventName,
  enumerateDisks,
  FakeClock,
  FakeLockTable,
  followLifecycle,
  ModelFileSystem,
  type NaiveHistory,
  type NaiveRecord,
  readHistory,
  type TestMachine,
} from '@turnlog/testkit';
import fc from 'fast-check';
import { realEngine } from '../crash/real-engine.js';

const directory = '/store/s-1';
const sessionId = 's-1';

/** The obvious log: what was accepted, in order, whether it is still in the file or in an archive. */
class Model {
  attempts = new Attempts();
  records: { readonly seq: number; readonly event: Readonly<Record<string, unknown>> }[] = [];
  keys = new Map<string, { readonly attempt: number; readonly seq: number }>();
  isGapDue = false;
  /** How many of the records have left the file. */
  evictedCount = 0;

  get lastSeq(): number {
    return this.records.at(-1)?.seq ?? 0;
  }

  /** Takes one event and says which seq and turn it must get. */
  take(text: string, isKeyOfGap = false): { readonly seq: number; readonly turn: number | null } {
    if (this.isGapDue && !isKeyOfGap) {
      this.records.push({ seq: this.lastSeq + 1, event: { type: 'log.recovered', reason: 'gap' } });
    }
    this.isGapDue = false;
    const record = { seq: this.lastSeq + 1, event: JSON.parse(text) as Readonly<Record<string, unknown>> };
    this.records.push(record);
    const turn = this.lifecycle().turns.find(({ records }) => records.some(({ seq }) => seq === record.seq));
    return { seq: record.seq, turn: turn?.turn ?? null };
  }

  lifecycle(): ReturnType<typeof followLifecycle> {
    return followLifecycle(this.records as unknown as readonly NaiveRecord[]);
  }

  /** After a crash the log itself says what is left; whether that is right was checked before. */
  readBack({ whole, log }: NaiveHistory): void {
    this.records = [...whole.records];
    this.evictedCount = whole.records.length - log.records.length;
    this.isGapDue = false;
    const attemptOf = new Map(this.attempts.list.map(({ text }, position) => [text, position]));
    this.keys = new Map();
    // Keys of what has left the file are forgotten.
    for (const { key, seq, text } of log.records) {
      if (key !== null) this.keys.set(key, { attempt: attemptOf.get(text) ?? -1, seq });
    }
  }
}

/** The records that somebody appended, those of the engine left out. */
function ownRecords(records: Model['records']): readonly string[] {
  return records
    .filter(({ event }) => !String(event['type']).startsWith('log.'))
    .map(({ seq, event }) => `${seq} ${JSON.stringify(event)}`);
}

class Real {
  readonly clock = new FakeClock('skips');
  readonly lockTable = new FakeLockTable();
  disk = new ModelFileSystem({ clock: this.clock });
  machine: TestMachine = createTestMachine({ fs: this.disk, clock: this.clock, lockTable: this.lockTable });
  cap: CapOptions | null = null;
  #log: OwnedLog | null = null;
  #seed = 1;

  get log(): OwnedLog {
    if (this.#log === null) throw new Error('the log is open in every step');
    return this.#log;
  }

  async open(): Promise<void> {
    this.#seed += 1;
    this.machine = createTestMachine({
      fs: this.disk,
      clock: this.clock,
      lockTable: this.lockTable,
      seed: this.#seed,
    });
    const options = this.cap === null ? {} : { cap: this.cap };
    this.#log = await openOwnedLog(this.machine, directory, sessionId, options);
  }

  /** Lets what a cap has begun come to its end; nobody's record is lost or changed by it. */
  async settle(model: Model): Promise<void> {
    if (this.cap === null) return;
    const { maintenance = [] } = await this.log.maintain();
    expect(maintenance.filter(({ step }) => step !== 'cap' && step !== 'lock-taken-over')).toEqual([]);
    this.log.flush();
    const history = this.history();
    expect(history.problems).toEqual([]);
    expect(ownRecords([...history.whole.records])).toEqual(ownRecords(model.records));
    // A summary is an append like any other: what was refused before is told in front of it.
    const isGapDue = model.isGapDue && countGaps([...history.whole.records]) === countGaps(model.records);
    model.readBack(history);
    model.isGapDue = isGapDue;
  }

  history(): NaiveHistory {
    return readHistory(this.content(), (name) => {
      const path = `${directory}/${name}`;
      return this.disk.status(path) === null ? null : Buffer.from(this.disk.contentOf(path));
    });
  }

  content(): Uint8Array {
    return this.disk.contentOf(`${directory}/events.jsonl`);
  }
}

function countGaps(records: Model['records']): number {
  return records.filter(({ event }) => event['reason'] === 'gap').length;
}

type Command = fc.AsyncCommand<Model, Real>;

/** A command by its name and what it does; the cheap invariants follow each. */
function command(name: string, run: (model: Model, real: Real) => Promise<void> | void): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      await run(model, real);
      await real.settle(model);
      const { log } = real;
      const { turnCount, turns, status } = model.lifecycle();
      expect(log.lastSeq).toBe(model.lastSeq);
      expect(log.state.lifecycle.turnCount).toBe(turnCount);
      expect(log.state.lifecycle.open?.turn ?? null).toBe(
        turns.find((turn) => turn.status === 'open')?.turn ?? null,
      );
      expect(log.state.lifecycle.status).toBe(status);
      expect(log.state.lifecycle.eventCount).toBe(model.records.length - model.evictedCount);
    },
    toString: () => name,
  };
}

const names: readonly EventName[] = ['thread', 'start', 'complete', 'fail', 'end', 'note'];
const anyName = fc.constantFrom(...names);

function append(
  model: Model,
  real: Real,
  name: EventName,
  options: Parameters<Attempts['append']>[2] = {},
): void {
  const seq = model.attempts.append(real.log, name, options);
  const attempt = model.attempts.list.at(-1);
  expect({ seq, turn: attempt?.turn ?? null }).toEqual(model.take(attempt?.text ?? ''));
}

function codeOf(call: () => unknown): unknown {
  try {
    call();
    return 'no error';
  } catch (error) {
    const { code, details } = error as { code: string; details: Readonly<Record<string, unknown>> };
    return { code, details };
  }
}

const commands: readonly fc.Arbitrary<Command>[] = [
  fc
    .tuple(anyName, fc.constantFrom(0, 0, 0, 40_000))
    .map(([name, padding]) =>
      command(`Append ${name} ${padding}`, (model, real) => append(model, real, name, { padding })),
    ),
  fc
    .tuple(anyName, fc.constantFrom('buffered' as const, 'turn' as const, 'event' as const))
    .map(([name, durability]) =>
      command(`Append ${name} ${durability}`, (model, real) => append(model, real, name, { durability })),
    ),
  fc.array(anyName, { maxLength: 4 }).map((batch) =>
    command(`AppendBatch ${batch}`, (model, real) => {
      const before = model.attempts.list.length;
      const seqs = model.attempts.appendBatch(real.log, batch);
      expect(seqs).toEqual(model.attempts.list.slice(before).map(({ text }) => model.take(text).seq));
    }),
  ),
  fc
    .constantFrom('{', '[]', '{"type":5}', '{"type":"turn.completed"}', '{"type":"log.recovered"}')
    .map((raw) =>
      command(`AppendInvalid ${raw}`, (_model, real) => {
        expect(codeOf(() => real.log.append({ raw }))).toMatchObject({
          code: expect.stringMatching(/^TURNLOG_(INVALID_EVENT|RESERVED_RECORD)$/),
        });
      }),
    ),
  fc.tuple(fc.nat(2), fc.boolean()).map(([number, isSame]) =>
    command(`AppendWithKey ${number} ${isSame}`, (model, real) => {
      const key = `k-${number}`;
      const used = model.keys.get(key);
      if (used === undefined) {
        append(model, real, 'note', { key });
        model.keys.set(key, { attempt: model.attempts.list.length - 1, seq: model.lastSeq });
      } else if (isSame) {
        const raw = model.attempts.list[used.attempt]?.text ?? '';
        expect(real.log.append({ raw }, { key })).toMatchObject({ seq: used.seq, duplicate: true });
      } else {
        const raw = '{"type":"x.test.other"}';
        expect(codeOf(() => real.log.append({ raw }, { key }))).toEqual({
          code: 'TURNLOG_KEY_CONFLICT',
          details: expect.objectContaining({ key, seq: used.seq }),
        });
      }
    }),
  ),
  fc.integer({ min: -1, max: 1 }).map((delta) =>
    command(`AppendExpecting ${delta}`, (model, real) => {
      const expectLast = model.lastSeq + delta;
      if (delta === 0) return append(model, real, 'note', { expectLast });
      const raw = '{"type":"x.test.other"}';
      expect(codeOf(() => real.log.append({ raw }, { expectLast }))).toEqual({
        code: 'TURNLOG_STALE_HEAD',
        details: expect.objectContaining({ expected: expectLast, actual: model.lastSeq }),
      });
    }),
  ),
  fc.constant(
    command('Flush', (model, real) => {
      model.attempts.flush(real.log);
      expect(real.history().whole.records).toHaveLength(model.records.length);
    }),
  ),
  fc.constant(
    command('Sync', (model, real) => {
      model.attempts.sync(real.log);
      expect(real.log.durableSeq).toBe(model.lastSeq);
    }),
  ),
  fc.constant(
    command('Commit', async (model, real) => {
      await model.attempts.commit(real.log);
      expect(real.log.durableSeq).toBe(model.lastSeq);
    }),
  ),
  fc.constant(
    command('Reopen', async (model, real) => {
      await model.attempts.close(real.log);
      await real.open();
      if (model.records.length > 0) expect(real.log.report.scan).toBe('none');
      model.isGapDue = false;
    }),
  ),
  fc.tuple(fc.nat(), fc.nat(11)).map(([seed, choice]) =>
    command(`CrashAndReopen ${seed} ${choice}`, async (model, real) => {
      const disks = [...enumerateDisks(real.disk, seed, { disksMax: 12, imagesMax: 12 })];
      const disk = disks[choice % disks.length] ?? real.disk;
      model.attempts.crash();
      const subject = { engine: realEngine, clock: new FakeClock('skips'), directory, sessionId };
      expect(await checkInvariants({ ...subject, fs: copyDisk(disk) }, model.attempts)).toEqual([]);
      real.lockTable.crash();
      real.disk = copyDisk(disk);
      try {
        await real.open();
      } catch (error) {
        // Bytes without one record: nothing was promised, as was checked. Somebody removes them by hand.
        expect(error).toMatchObject({ code: 'TURNLOG_LOG_UNREADABLE' });
        real.disk.removeFile(`${directory}/events.jsonl`);
        await real.open();
      }
      model.readBack(real.history());
    }),
  ),
  fc
    .tuple(
      fc.integer({ min: 2, max: 12 }),
      fc.constantFrom(0.5, 0.8, 1),
      fc.constantFrom('gzip' as const, 'gzip' as const, null),
    )
    .map(([maxEvents, target, archive]) =>
      command(`SetCap ${maxEvents} ${target} ${archive}`, async (model, real) => {
        await model.attempts.close(real.log);
        model.isGapDue = false;
        real.cap = archive === null ? null : { maxEvents, target, archive };
        await real.open();
      }),
    ),
  fc.constant(
    command('Maintain', async (model, real) => {
      await real.settle(model);
      const max = real.cap?.maxEvents ?? Number.POSITIVE_INFINITY;
      const closed = model.lifecycle().turns.filter(({ status }) => status !== 'open').length;
      const evicted = real.log.state.evicted?.turns ?? 0;
      // Over its cap a log stays only when nothing but the newest turn could leave it.
      if (real.log.state.lifecycle.eventCount > max) expect(closed - evicted).toBeLessThanOrEqual(1);
    }),
  ),
  fc.tuple(fc.nat(30), fc.nat(8)).map(([from, more]) =>
    command(`ReadArchived ${from} ${more}`, (model, real) => {
      real.log.flush();
      const reader = openLogReader(real.disk, directory, sessionId);
      try {
        const found = [...reader.readRange(from, from + more, { archived: true })].map(({ seq }) => seq);
        const wanted = model.records.map(({ seq }) => seq).filter((seq) => seq >= from && seq <= from + more);
        expect(found).toEqual(wanted);
        for (const { turn, records } of model.lifecycle().turns) {
          const read = [...reader.readTurn(turn, { archived: true })].map(({ seq }) => seq);
          expect(read).toEqual(records.map(({ seq }) => seq));
        }
      } finally {
        reader.close();
      }
    }),
  ),
  fc.constant(
    command('DeleteDerived', async (model, real) => {
      await model.attempts.close(real.log);
      for (const name of ['manifest.json', 'index/turns.jsonl', 'index/keys.jsonl']) {
        if (real.disk.status(`${directory}/${name}`) !== null) real.disk.removeFile(`${directory}/${name}`);
      }
      await real.open();
      expect(real.log.report.scan).toBe('full');
      model.isGapDue = false;
    }),
  ),
  fc.constant(
    command('SecondWriter', async (_model, real) => {
      await expect(openOwnedLog(real.machine, directory, sessionId)).rejects.toMatchObject({
        code: 'TURNLOG_LOCKED',
        details: { pid: 100, host: 'box' },
      });
    }),
  ),
  fc.tuple(fc.array(anyName, { minLength: 1, maxLength: 3 }), fc.boolean()).map(([events, isThrown]) =>
    command(`SharedTransaction ${events} ${isThrown}`, async (model, real) => {
      const { attempts } = model;
      await attempts.close(real.log);
      model.isGapDue = false;
      const work = transaction(real.machine, directory, sessionId, (log) => {
        if (isThrown) {
          log.append({ raw: '{"type":"x.test.never"}' });
          throw new Error('taken back');
        }
        for (const name of events) {
          attempts.append(log, name);
          const attempt = attempts.list.at(-1);
          expect(attempt).toMatchObject(model.take(attempt?.text ?? ''));
        }
      });
      if (isThrown) await expect(work).rejects.toThrow('taken back');
      else await work;
      attempts.noteDurable();
      await real.open();
    }),
  ),
  fc.boolean().map((isWritten) =>
    command(`ExpireOwner ${isWritten}`, async (model, real) => {
      const { attempts } = model;
      real.lockTable.lose(directory, new Error('silent for too long'));
      expect(codeOf(() => real.log.append({ raw: '{"type":"x.test.other"}' }))).toMatchObject({
        code: 'TURNLOG_POISONED',
      });
      if (isWritten) {
        const other = await openOwnedLog(real.machine, directory, sessionId);
        const flushed = real.history().whole.records.length;
        const lostCount = model.records.length - flushed;
        model.records.length = flushed;
        // What the first handle holds back is none of the other's business.
        const heldBack = attempts.list.filter(
          ({ fate, seq }) => fate === 'accepted' && (seq ?? 0) > model.lastSeq,
        );
        for (const attempt of heldBack) attempt.fate = 'tried';
        attempts.append(other, 'note', { durability: 'event' });
        await other.close();
        for (const attempt of heldBack) attempt.fate = 'accepted';
        const lost = await attempts.reopen(real.log).then(() => lostCount);
        const wasGapDue = model.isGapDue;
        model.readBack(real.history());
        model.isGapDue = wasGapDue || lost > 0;
      } else {
        await attempts.reopen(real.log);
      }
    }),
  ),
  fc.constant(
    command('FullDisk', (model, real) => {
      const { disk, log } = real;
      disk.setSpace(disk.usedBytes + 17);
      expect(codeOf(() => model.attempts.append(log, 'note', { durability: 'event' }))).toMatchObject({
        code: 'TURNLOG_IO',
        details: { errno: 'ENOSPC', outcome: 'none' },
      });
      disk.setSpace(null);
      model.isGapDue = true;
    }),
  ),
];

test('I1 to I8: after any commands the log and the obvious model agree', async () => {
  let evictedCount = 0;
  await fc.assert(
    fc.asyncProperty(fc.commands([...commands], { size: 'max', maxCommands: 40 }), async (all) => {
      const model = new Model();
      const real = new Real();
      real.disk.plantDirectory('/store');
      await real.open();
      await fc.asyncModelRun(() => ({ model, real }), all);
      evictedCount += model.evictedCount;
      await model.attempts.close(real.log);
      const subject = { engine: realEngine, clock: new FakeClock('skips'), directory, sessionId };
      expect(await checkInvariants({ ...subject, fs: copyDisk(real.disk) }, model.attempts)).toEqual([]);
    }),
    { numRuns: 300 },
  );
  expect(evictedCount).toBeGreaterThan(100);
}, 240_000);
