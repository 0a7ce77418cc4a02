import type { FileSystem } from '@turnlog/kernel';
import { openLogReader } from '@turnlog/log';
import { KeySet } from './key-set.js';
import { isMembers, type Members, textMember } from './source-object.js';

/** One pass of an import, as `run.imported` has it. */
export interface ImportedPass {
  readonly to: number;
  /** Of the bytes before `to`. */
  readonly sha256: string;
  readonly isFinal: boolean;
  /** The parts of the raw copy. */
  readonly raw: readonly Members[];
}

/** A file that a session was imported from. */
export interface ImportedFile {
  /** As in "f1". */
  readonly file: string;
  readonly path: string;
  readonly format: string;
  /** The run that its first record belongs to. */
  readonly run: number;
  readonly passes: ImportedPass[];
}

/** What a session holds that an import goes on from. */
export interface SessionHistory {
  readonly runCount: number;
  readonly hasKey: (key: string) => boolean;
  readonly files: readonly ImportedFile[];
  /** The first `run.started`, and the thread that the first `thread.started` names. */
  readonly runStarted: Members | null;
  readonly threadId: string | null;
  /** The newest time of the log. */
  readonly newestMs: number | null;
}

export const noHistory: SessionHistory = {
  runCount: 0,
  hasKey: () => false,
  files: [],
  runStarted: null,
  threadId: null,
  newestMs: null,
};

/** Reads what imports left in a log, behind the record `afterSeq`; keys of earlier records count as unknown. */
export function readHistory(
  fs: FileSystem,
  directory: string,
  sessionId: string,
  afterSeq: number = 0,
): SessionHistory {
  const reader = openLogReader(fs, directory, sessionId);
  try {
    const fold = new HistoryFold();
    const records =
      afterSeq === 0 ? reader.records() : reader.readRange(afterSeq + 1, Number.MAX_SAFE_INTEGER);
    for (const record of records) {
      if (record.key !== null) fold.keys.add(record.key);
      if (foldedTypes.has(record.type)) fold.note(record.type, record.readEvent());
    }
    return fold.read(reader.state.newestTsMs);
  } finally {
    reader.close();
  }
}

const foldedTypes: ReadonlySet<string> = new Set([
  'thread.started',
  'run.started',
  'run.source',
  'run.imported',
]);

class HistoryFold {
  readonly keys: KeySet = new KeySet();
  readonly #files: ImportedFile[] = [];
  #runStarted: Members | null = null;
  #threadId: string | null = null;
  #runCount = 0;

  note(type: string, event: unknown): void {
    if (!isMembers(event)) return;
    if (type === 'thread.started') this.#noteThread(event);
    else if (type === 'run.started') this.#runStarted ??= event;
    else if (type === 'run.source') this.#noteFile(event);
    else this.#notePass(event);
  }

  read(newestMs: number | null): SessionHistory {
    return {
      runCount: this.#runCount,
      hasKey: (key) => this.keys.has(key),
      files: this.#files,
      runStarted: this.#runStarted,
      threadId: this.#threadId,
      newestMs,
    };
  }

  #noteThread(event: Members): void {
    this.#runCount += 1;
    this.#threadId ??= textMember(event, 'thread_id') ?? null;
  }

  #noteFile(event: Members): void {
    const path = textMember(event, 'path');
    const file = textMember(event, 'file');
    if (path === undefined || file === undefined) return;
    // A source that gave nothing but its prompts was not imported.
    const part = textMember(event, 'part');
    const format = `${textMember(event, 'format') ?? ''}${part === undefined ? '' : `:${part}`}`;
    this.#files.push({ file, path, format, run: this.#runCount, passes: [] });
  }

  #notePass(event: Members): void {
    const { to, final, raw } = event;
    const sha256 = textMember(event, 'prefix_sha256');
    const imported = this.#files.find(({ file }) => file === event['file']);
    if (typeof to !== 'number' || sha256 === undefined) return;
    const parts = Array.isArray(raw) ? raw.filter(isMembers) : [];
    imported?.passes.push({ to, sha256, isFinal: final === true, raw: parts });
  }
}
