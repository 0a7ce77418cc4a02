import type { FileHandle, FileSystem } from '@turnlog/kernel';
import type { LogRecord } from '@turnlog/log';
import { openLogReader } from '@turnlog/log';
import { createTestMachine, FakeClock, ModelFileSystem, type TestMachine } from '@turnlog/testkit';
import {
  type BatchReport,
  type ImportRequest,
  type ImportTarget,
  importSources,
  type SourceReport,
} from '../src/index.js';
import { treeOf } from './vtcode-files.js';

export const storeSessions = '/store/sessions';

/** A machine in memory with an empty store and files of other agents. */
export interface ThreadDesk {
  readonly fs: ModelFileSystem;
  readonly clock: FakeClock;
  readonly machine: TestMachine;
  readonly target: ImportTarget;
}

export function makeThreadDesk(): ThreadDesk {
  const clock = new FakeClock();
  const fs = new ModelFileSystem({ clock });
  for (const path of ['/foreign', '/store', storeSessions]) fs.plantDirectory(path, { mode: 0o700 });
  const machine = createTestMachine({ fs, clock });
  return { fs, clock, machine, target: { environment: machine, sessionsDirectory: storeSessions } };
}

/** Puts files at `/foreign/<name>`; names may hold folders. */
export function plantFiles(desk: ThreadDesk, files: Readonly<Record<string, Uint8Array>>): void {
  for (const [name, bytes] of Object.entries(files)) {
    const parts = name.split('/').slice(0, -1);
    for (let count = 1; count <= parts.length; count += 1) {
      const path = `/foreign/${parts.slice(0, count).join('/')}`;
      if (desk.fs.status(path) === null) desk.fs.plantDirectory(path, { mode: 0o700 });
    }
    desk.fs.plantFile(`/foreign/${name}`, bytes);
  }
}

export function importAll(
  desk: ThreadDesk,
  request: Partial<ImportRequest> = {},
  target: ImportTarget = desk.target,
): Promise<BatchReport> {
  return importSources(target, { sources: [{ path: '/foreign' }], final: true, ...request });
}

/** Imports one file alone and gives its report. */
export async function importOne(
  desk: ThreadDesk,
  bytes: Uint8Array,
  request: Partial<ImportRequest> = {},
): Promise<SourceReport> {
  plantFiles(desk, { 'one.jsonl': bytes });
  const [report] = (await importAll(desk, request)).sources;
  if (report === undefined) throw new Error('nothing was imported');
  return report;
}

export function recordsOf(desk: ThreadDesk, sessionId: string): readonly LogRecord[] {
  const reader = openLogReader(desk.fs, `${storeSessions}/${sessionId}`, sessionId);
  try {
    return [...reader.records()];
  } finally {
    reader.close();
  }
}

export type Event = Readonly<Record<string, unknown>>;

export function eventsOf(desk: ThreadDesk, sessionId: string): readonly Event[] {
  return recordsOf(desk, sessionId).map((record) => record.readEvent() as unknown as Event);
}

export function turnsOf(desk: ThreadDesk, sessionId: string): readonly string[] {
  const reader = openLogReader(desk.fs, `${storeSessions}/${sessionId}`, sessionId);
  try {
    return [...reader.turns()].map(({ status }) => status);
  } finally {
    reader.close();
  }
}

export function member(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (found, name) => (found === null || typeof found !== 'object' ? undefined : (found as Event)[name]),
    value,
  );
}

/** The ids of the sessions of a store. */
export function sessionsOf(desk: ThreadDesk): readonly string[] {
  return desk.fs
    .list(storeSessions)
    .map(({ name }) => name)
    .sort();
}

/** Every byte of every log. */
export function logsOf(desk: ThreadDesk): Readonly<Record<string, string>> {
  const tree = treeOf(desk.fs, storeSessions);
  return Object.fromEntries(Object.entries(tree).filter(([path]) => path.endsWith('/events.jsonl')));
}

/** What a log holds but for the records of passes: the number of a record counts those too. */
export function contentOf(desk: ThreadDesk, sessionId: string): readonly string[] {
  return ofSource(recordsOf(desk, sessionId)).map(textOf);
}

function ofSource(records: readonly LogRecord[]): readonly LogRecord[] {
  return records.filter(({ type }) => type !== 'run.imported');
}

const decoder = new TextDecoder();

function textOf(record: LogRecord): string {
  return `${record.ts} ${record.key} ${decoder.decode(record.eventBytes())}`;
}

/** How many of them there are, and the last of them. */
export function lastOf(
  desk: ThreadDesk,
  sessionId: string,
): { readonly count: number; readonly last?: string } {
  const records = ofSource(recordsOf(desk, sessionId));
  const last = records.at(-1);
  return { count: records.length, ...(last === undefined ? {} : { last: textOf(last) }) };
}

/** The same of every session. */
export function contentsOf(desk: ThreadDesk): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(sessionsOf(desk).map((name) => [name, contentOf(desk, name)]));
}

/** The positions behind all line ends. */
export function lineEnds(bytes: Uint8Array): readonly number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) ends.push(at + 1);
  return ends;
}

/** The same disk, whose reads of foreign files give at most so many bytes. */
export function inPieces(fs: FileSystem, pieceBytes: number): FileSystem {
  return new Proxy(fs, {
    get: (target, name) => {
      if (name !== 'open') return Reflect.get(target, name).bind(target);
      return (path: string, mode: 'read') => {
        const handle = target.open(path, mode);
        return path.startsWith('/foreign') ? shortReads(handle, pieceBytes) : handle;
      };
    },
  });
}

function shortReads(handle: FileHandle, pieceBytes: number): FileHandle {
  return new Proxy(handle, {
    get: (target, name) => {
      if (name === 'path') return target.path;
      if (name !== 'read') return Reflect.get(target, name).bind(target);
      return (into: Uint8Array, offset: number) => target.read(into.subarray(0, pieceBytes), offset);
    },
  });
}
