import type { LogPinnedEvent } from '@turnlog/events';
import { EngineEvent, openLogReader, openOwnedLog, transaction } from '@turnlog/log';
import { conversation, Ledger, listPins } from '@turnlog/store';
import { copyDisk, enumerateDisks, type ModelFileSystem } from '@turnlog/testkit';
import {
  collectStatistics,
  type ExportFormat,
  runFolds,
  statsDimensions,
  statsJson,
  views,
} from '@turnlog/views';
import { exported, message, said } from './exports-support.js';
import { answer, TestStore, turnStarted, utc } from './support.js';

/** What every member of the frame says, in every field that any reader shows. */
export const mark = 'framed';
export const tokens = 777_777;

export const members: readonly object[] = [
  {
    type: 'item.completed',
    item: {
      id: mark,
      type: 'tool_invocation',
      tool_name: mark,
      status: 'completed',
      arguments: { path: `/srv/${mark}` },
    },
  },
  {
    type: 'item.completed',
    item: {
      id: `${mark}-c`,
      type: 'file_change',
      status: 'completed',
      changes: [{ path: mark, kind: 'add' }],
    },
  },
  answer(mark, tokens, 1, { model: mark }),
  { type: 'run.started', program: mark, cwd: `/srv/${mark}` },
  { type: 'journal.set', fence: null, title: mark },
];

export const documents: readonly ExportFormat[] = ['md', 'html', 'atif', 'agent-trace', 'otlp'];

/** Everything that is made of a session, by name. */
export async function madeOf(place: TestStore): Promise<Readonly<Record<string, string>>> {
  const { store } = place;
  const tables = await Promise.all(
    [[], ...statsDimensions.map((name) => [name])].map(async (by) => {
      const report = await collectStatistics(store, { zone: utc, by });
      return [`stats by ${by.join()}`, JSON.stringify(statsJson(report, String))] as const;
    }),
  );
  return {
    ...foldedOf(place),
    ...Object.fromEntries(tables),
    ...Object.fromEntries(
      documents.map((format) => [format, exported(place, 's-1', format, { content: true }).text]),
    ),
    list: JSON.stringify(await store.list()),
  };
}

/**
 * How many of these show a frame that is committed. Of two views only numbers could tell: when records came, and what
 * became of turns.
 */
export const everywhere = views.length - 2 + 2 + statsDimensions.length + 1 + documents.length + 1;

/** Where something of the frame shows. */
export function showing(made: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(made).filter((name) => {
    const text = made[name] ?? '';
    return text.includes(mark) || text.includes(String(tokens));
  });
}

/** The frame as a log holds it: the bytes of the whole file and where the frame begins in them. */
export interface Framed {
  readonly bytes: Buffer;
  readonly from: number;
}

export async function framedSession(): Promise<Framed> {
  const place = await TestStore.make();
  await place.write('s-1', [
    { type: 'run.started', program: 'p', cwd: '/srv/w' },
    turnStarted,
    said('asked'),
    message('i-1', 'answered'),
  ]);
  const from = Buffer.byteLength(place.text('s-1', 'events.jsonl'));
  const log = await place.store.open('s-1');
  log.appendFrame(
    { frame: 'f-1', fence: null, kind: 'result' },
    members.map((event) => ({ raw: JSON.stringify(event) })),
  );
  await log.close();
  return { bytes: Buffer.from(place.text('s-1', 'events.jsonl')), from };
}

export const pinned: LogPinnedEvent = { type: 'log.pinned', session_id: mark, reason: mark };

export async function framedLedger(): Promise<Framed> {
  const place = await TestStore.make();
  const ledger = new Ledger(place.store.environment, '/store');
  await ledger.append({ type: 'log.pinned', session_id: 's-1', reason: 'stays' });
  const from = place.disk.contentOf(ledgerLog).length;
  await transaction(place.store.environment, '/store/ledger', 'ledger', (log) => {
    log.appendFrame({ frame: 'f-1', fence: null, kind: 'distilled' }, [new EngineEvent(pinned)]);
  });
  return { bytes: Buffer.from(place.disk.contentOf(ledgerLog)), from };
}

export const ledgerLog = '/store/ledger/events.jsonl';

export function snapshotOf(disk: ModelFileSystem, path: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name, kind } of disk.list(path)) {
    const below = `${path}/${name}`;
    found[below] = `${kind} ${disk.status(below)?.modifiedMs}`;
    if (kind === 'directory') Object.assign(found, snapshotOf(disk, below));
    else found[below] += Buffer.from(disk.contentOf(below)).toString('base64');
  }
  return found;
}

export interface Stored {
  readonly seq: number;
  readonly event: Readonly<Record<string, unknown>>;
}

export function storedIn(content: Uint8Array): readonly Stored[] {
  const lines = Buffer.from(content).toString().split('\n').slice(0, -1);
  return lines.map((text) => JSON.parse(text) as Stored);
}

/** One of the two logs, cut in its frame. */
export interface Subject {
  readonly family: 'journal' | 'job';
  readonly log: string;
  readonly plant: (bytes: Uint8Array) => Promise<TestStore>;
  /** Where something of the frame shows, by the readers that cost little. */
  readonly showing: (place: TestStore) => readonly string[];
  /** By all of them. */
  readonly showingAnywhere: (place: TestStore) => Promise<readonly string[]>;
  /** What tells of it by numbers only, where nothing but reading has happened. */
  readonly numbers: (place: TestStore) => string;
  /** What tail and raw reading show: the members that are whole too. */
  readonly raw: (place: TestStore) => string;
  readonly owned: (place: TestStore) => Promise<void>;
  readonly shared: (place: TestStore) => Promise<void>;
}

export const session: Subject = {
  family: 'journal',
  log: '/store/sessions/s-1/events.jsonl',
  plant: async (bytes) => {
    const place = await TestStore.make();
    place.plant('s-1', bytes);
    return place;
  },
  showing: (place) => showing(foldedOf(place)),
  numbers: (place) => {
    const { 'view activity': activity, 'view progress': progress } = foldedOf(place);
    return `${activity} ${progress}`;
  },
  showingAnywhere: async (place) => showing(await madeOf(place)),
  raw: (place) => {
    const last = place.reading('s-1', (reader) => reader.tail(100).map(({ bytes }) => Buffer.from(bytes)));
    const lines = exported(place, 's-1', 'jsonl').text;
    expect(lines).toBe(last.map((bytes) => `${bytes.toString()}\n`).join(''));
    return lines;
  },
  owned: async (place) => {
    await (await place.store.open('s-1')).close();
  },
  shared: (place) => place.store.transaction('s-1', () => undefined),
};

export const ledger: Subject = {
  family: 'job',
  log: ledgerLog,
  plant: async (bytes) => {
    const place = await TestStore.make();
    place.disk.plantDirectory('/store/ledger');
    place.disk.plantFile(ledgerLog, bytes);
    place.plant(mark, '');
    return place;
  },
  showing: (place) => {
    const facts = new Ledger(place.store.environment, '/store').facts();
    return [...facts.pins.keys(), ...listPins(place.store).keys()].filter((id) => id === mark);
  },
  showingAnywhere: (place) => Promise.resolve(ledger.showing(place)),
  numbers: (place) => String(new Ledger(place.store.environment, '/store').facts().pins.size),
  raw: (place) => {
    const reader = openLogReader(place.fs, '/store/ledger', 'ledger');
    try {
      return reader
        .tail(100)
        .map(({ bytes }) => Buffer.from(bytes).toString())
        .join('\n');
    } finally {
      reader.close();
    }
  },
  owned: async (place) => {
    await (await openOwnedLog(place.store.environment, '/store/ledger', 'ledger')).close();
  },
  shared: (place) => transaction(place.store.environment, '/store/ledger', 'ledger', () => undefined),
};

/** What the views come to and what lists go by: no documents, so that every byte can be tried. */
export function foldedOf(place: TestStore): Readonly<Record<string, string>> {
  return place.reading('s-1', (reader) => {
    const folds = views.map((view) => view.fromStart(reader));
    runFolds(reader, folds);
    return {
      ...Object.fromEntries(folds.map((fold) => [`view ${fold.name}`, fold.document()])),
      facts: JSON.stringify(reader.state.facts),
      conversation: [...conversation(place.store, 's-1')]
        .map((piece) => (piece.kind === 'record' ? Buffer.from(piece.record.bytes).toString() : ''))
        .join('\n'),
    };
  });
}

/** What a writer has added behind the whole lines of a cut log: reports, then one void where a frame had begun. */
export function expectVoided(subject: Subject, place: TestStore, cut: Cut, reports: 'one' | 'any'): void {
  const stored = storedIn(place.disk.contentOf(subject.log));
  const begun = stored.slice(0, cut.whole).some(({ event }) => event['type'] === `${subject.family}.begin`);
  const added = stored.slice(cut.whole).map(({ event }) => event);
  const voids = begun ? [{ type: `${subject.family}.void`, frame: 'f-1', reason: 'unfinished' }] : [];
  expect(added.slice(added.length - voids.length)).toEqual(voids);
  const before = added.slice(0, added.length - voids.length).map(({ type }) => type);
  expect(before.every((type) => type === 'log.recovered')).toBe(true);
  if (reports === 'one') expect(before).toHaveLength(cut.isTorn ? 1 : 0);
}

export interface Cut {
  readonly at: number;
  /** Lines that a reader takes: of the last one only the 0x0A may be missing. */
  readonly whole: number;
  readonly isTorn: boolean;
}

export function cutAt(bytes: Buffer, at: number): Cut {
  const isWhole = bytes[at] === 0x0a;
  const ended = bytes.subarray(0, at).filter((byte) => byte === 0x0a).length;
  return { at, whole: ended + (isWhole ? 1 : 0), isTorn: !isWhole && bytes[at - 1] !== 0x0a };
}

/** All cuts that leave the frame without its commit. */
export function cutsOf({ bytes, from }: Framed): readonly Cut[] {
  return Array.from({ length: bytes.length - 1 - from }, (_, index) => cutAt(bytes, from + index));
}

/** Those next to a line end, and one inside of each line: what lies between differs in the length of a fragment only. */
export function isTelling(bytes: Buffer, { at }: Cut): boolean {
  const isNearEnd = [at - 2, at - 1, at, at + 1].some((near) => bytes[near] === 0x0a);
  return isNearEnd || bytes[at - 30] === 0x0a;
}

/** One at each line end, and one inside of each line: the opens that are stopped at every call. */
export function isCrashed(bytes: Buffer, { at }: Cut): boolean {
  return bytes[at - 1] === 0x0a || bytes[at - 30] === 0x0a;
}

export async function expectCutWithoutEffect(
  subject: Subject,
  { bytes }: Framed,
  cut: Cut,
  numbers: string,
): Promise<void> {
  const part = bytes.subarray(0, cut.at);
  const readOnly = await subject.plant(part);
  const before = snapshotOf(readOnly.disk, '/store');
  expect(subject.showing(readOnly)).toEqual([]);
  expect(subject.numbers(readOnly)).toBe(numbers);
  if (isTelling(bytes, cut)) expect(await subject.showingAnywhere(readOnly)).toEqual([]);
  const wholeText = bytes.subarray(0, cut.at + (bytes[cut.at] === 0x0a ? 1 : 0)).toString();
  const wholeMembers = wholeText.slice(0, wholeText.lastIndexOf('\n') + 1).split(mark).length;
  expect(subject.raw(readOnly).split(mark)).toHaveLength(wholeMembers);
  expect(snapshotOf(readOnly.disk, '/store')).toEqual(before);
  for (const open of [subject.owned, subject.shared]) {
    const place = await subject.plant(part);
    await open(place);
    expectVoided(subject, place, cut, 'one');
    const opened = Buffer.from(place.disk.contentOf(subject.log));
    if (isTelling(bytes, cut)) expect(await subject.showingAnywhere(place)).toEqual([]);
    await open(place);
    expect(opened.equals(place.disk.contentOf(subject.log))).toBe(true);
  }
}

/** Stops the open at each of its calls that change something; returns how many disks that left. */
export async function crashOpens(subject: Subject, { bytes }: Framed, cut: Cut): Promise<number> {
  let disks = 0;
  for (let call = 0; ; call += 1) {
    const place = await subject.plant(bytes.subarray(0, cut.at));
    const crashed = copyDisk(place.disk);
    crashed.crashAt(call);
    try {
      await subject.owned(await TestStore.make(crashed));
      if (!crashed.isDown) return disks;
    } catch (error) {
      if (!crashed.isDown) throw error;
    }
    for (const left of enumerateDisks(crashed, 1, { disksMax: 3 })) {
      disks += 1;
      const again = await TestStore.make(left);
      expect(subject.showing(again)).toEqual([]);
      await subject.owned(again);
      expectVoided(subject, again, cut, 'any');
      expect(subject.showing(again)).toEqual([]);
      const opened = Buffer.from(again.disk.contentOf(subject.log));
      await subject.shared(again);
      expect(opened.equals(again.disk.contentOf(subject.log))).toBe(true);
    }
  }
}
