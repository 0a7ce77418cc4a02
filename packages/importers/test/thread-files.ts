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
