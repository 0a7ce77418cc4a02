import {
  type EventInput,
  type LogReader,
  type OwnedLog,
  openLogReader,
  openOwnedLog,
  type WriterOptions,
} from '@turnlog/log';
import type { TestMachine } from '@turnlog/testkit';
import {
  createTestMachine,
  FakeClock,
  FakeLockTable,
  FaultFileSystem,
  ModelFileSystem,
} from '@turnlog/testkit';

/** One log directory on a machine in memory, and everything a test wants to do with it. */
export class TestLog {
  readonly directory: string = '/sessions/case';
  readonly clock = new FakeClock();
  readonly disk = new ModelFileSystem({ clock: this.clock });
  readonly fs = new FaultFileSystem(this.disk);
  readonly lockTable = new FakeLockTable();
  readonly machine: TestMachine = createTestMachine({
    fs: this.fs,
    clock: this.clock,
    lockTable: this.lockTable,
  });

  constructor() {
    this.disk.makeDirectory('/sessions');
  }

  open(options: WriterOptions = {}): Promise<OwnedLog> {
    return openOwnedLog(this.machine, this.directory, 'case', options);
  }

  read(): LogReader {
    return openLogReader(this.fs, this.directory, 'case');
  }

  /** Puts a log directory on the disk that holds just these bytes. */
  plant(bytes: Uint8Array | string): void {
    if (this.disk.status(this.directory) === null) this.disk.plantDirectory(this.directory);
    this.disk.plantFile(this.path('events.jsonl'), Buffer.from(bytes));
  }

  readWithin(lineBytesMax: number): LogReader {
    return openLogReader(this.fs, this.directory, 'case', { lineBytesMax });
  }

  path(name: string): string {
    return `${this.directory}/${name}`;
  }

  bytes(name = 'events.jsonl'): Buffer {
    return Buffer.from(this.disk.contentOf(this.path(name)));
  }

  text(name = 'events.jsonl'): string {
    return this.bytes(name).toString('utf8');
  }

  manifest(): ManifestShape {
    return JSON.parse(this.text('manifest.json')) as ManifestShape;
  }

  indexedTurns(): readonly IndexShape[] {
    const lines = this.text('index/turns.jsonl').trimEnd().split('\n').slice(1);
    return lines.map((line) => JSON.parse(line) as IndexShape).filter((entry) => 'turn' in entry);
  }

  remove(name: string): void {
    this.disk.removeFile(this.path(name));
  }

  replace(name: string, content: string): void {
    this.disk.plantFile(this.path(name), Buffer.from(content));
  }

  /** Everything below the directory with its content, for "nothing has changed". */
  snapshot(): Readonly<Record<string, string>> {
    const found: Record<string, string> = {};
    const walk = (path: string): void => {
      for (const entry of this.disk.list(path)) {
        const below = `${path}/${entry.name}`;
        const status = this.disk.status(below);
        found[below] = `${entry.kind} ${status?.mode} ${status?.modifiedMs}`;
        if (entry.kind === 'directory') walk(below);
        else if (entry.kind === 'file')
          found[below] += Buffer.from(this.disk.contentOf(below)).toString('base64');
      }
    };
    walk(this.directory);
    return found;
  }

  /** Appends `events` in a writer of its own and closes it. */
  async write(events: readonly EventInput[], options: WriterOptions = {}): Promise<void> {
    const log = await this.open(options);
    for (const event of events) log.append(event);
    await log.close();
  }
}

export interface ManifestShape {
  readonly turn_count: number;
  readonly event_count: number;
  readonly status: string;
  readonly in_turn: boolean;
  readonly persisted_file_len: number;
  readonly retained_turn_base: number;
  readonly turnlog: Readonly<Record<string, unknown>> & {
    readonly generation: string;
    readonly last_seq: number;
  };
}

export interface IndexShape {
  readonly turn: number;
  readonly status: string;
  readonly start: number;
  readonly end: number;
}

export const threadStarted: EventInput = { type: 'thread.started', thread_id: 't' } as EventInput;
export const turnStarted: EventInput = { type: 'turn.started' };
export const turnCompleted: EventInput = { type: 'turn.completed', usage: {} } as EventInput;
export const turnFailed: EventInput = { type: 'turn.failed', message: 'no' } as EventInput;
export const threadCompleted: EventInput = {
  type: 'thread.completed',
  thread_id: 't',
  session_id: 's',
  subtype: 'success',
  outcome_code: 'ok',
  usage: {},
  num_turns: 1,
} as EventInput;

/** An event of no turn's making, `index` in its text. */
export function note(index: number | string): EventInput {
  return { type: 'error', message: `note ${index}` } as EventInput;
}

/** A line as a writer of ours would store it. */
export function line(
  seq: number,
  event: EventInput | Record<string, unknown>,
  ts = '2026-10-05T08:00:00.000Z',
): string {
  return `${JSON.stringify({ schema_version: '0.18.0', seq, ts, event })}\n`;
}

/** Lines 1 to `count`, each a note. */
export function notes(count: number): string {
  return Array.from({ length: count }, (_, index) => line(index + 1, note(index + 1))).join('');
}

/** Seq and type of all records that a reader sees. */
export function seqsAndTypes(reader: LogReader): readonly string[] {
  return [...reader.records()].map((record) => `${record.seq} ${record.type}`);
}
