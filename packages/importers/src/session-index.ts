import { isTurnlogError } from '@turnlog/kernel';
import type { ByteSource } from '@turnlog/log';
import type { AssetStore } from '@turnlog/store';
import { DigestSet } from './digest-set.js';
import { type FileState, type ImportState, readImportState } from './import-state.js';
import { firstEventOf, type ImportTarget, importedSource } from './import-target.js';
import { openWindow } from './open-window.js';
import { partFrom } from './raw-copy.js';
import { sharedDigest } from './record-places.js';
import { type ImportedFile, readHistory, type SessionHistory } from './session-history.js';
import { digestedId, isSessionName, threadSessionId } from './session-name.js';
import { isMembers, textMember } from './source-object.js';
import type { StoreView, ThreadFormat } from './thread-format.js';
import { answerDigest } from './thread-pass.js';

/** What a session that exists is to an import. */
export interface KnownSession {
  readonly sessionId: string;
  /** Null when it has to be found out from the log. */
  readonly state: ImportState | null;
  readonly threadId: string;
  readonly aliases: readonly string[];
  /** Names of the formats that its files were in. */
  readonly formats: readonly string[];
}

/** How many sets of digests are held at the same time. */
const setsHeldMax = 64;

/** The sessions of one format in a store, read when something about them is asked. */
export class SessionIndex {
  readonly #target: ImportTarget;
  readonly #format: ThreadFormat;
  readonly #assets: AssetStore;
  #sessions: Map<string, KnownSession> | null = null;
  readonly #byThread = new Map<string, string>();
  readonly #byPath = new Map<string, string>();
  readonly #shared = new Map<string, DigestSet>();
  /** Answers of all sessions: what is not among them is not looked for in each. */
  readonly #answers = new DigestSet();

  constructor(target: ImportTarget, format: ThreadFormat, assets: AssetStore) {
    this.#target = target;
    this.#format = format;
    this.#assets = assets;
  }

  /** Takes note of what an import has just published. */
  note(sessionId: string, state: ImportState): void {
    const { threadId, aliases } = state;
    const known = { sessionId, state, threadId, aliases, formats: [this.#format.name] };
    this.#all().set(sessionId, known);
    this.#noteNames(known);
    this.#shared.delete(sessionId);
  }

  /** Looks at a session again that somebody else has made. */
  reread(sessionId: string): void {
    const known = this.#readSession(sessionId);
    if (known === null) return;
    this.#all().set(sessionId, known);
    this.#noteNames(known);
  }

  /** A session that came since the others were read, in another format, is looked at now. */
  get(sessionId: string): KnownSession | null {
    const known = this.#all().get(sessionId);
    if (known !== undefined) return known;
    const { environment, sessionsDirectory } = this.#target;
    if (environment.fs.status(`${sessionsDirectory}/${sessionId}`)?.kind === 'directory')
      this.reread(sessionId);
    return this.#all().get(sessionId) ?? null;
  }

  /** The session and the state of the file that stands at `path` unchanged; null when there is none. */
  unchangedFile(path: string, now: PlainFile): KnownSession | null {
    const known = this.#all().get(this.#byPath.get(path) ?? '');
    const file = known?.state?.files.find((each) => each.path === path);
    return known !== undefined && file !== undefined && isSameFile(file, now) ? known : null;
  }

  /** What a mapper may ask while it folds the session `self`. */
  viewFor(self: string): StoreView {
    let kept: readonly KnownSession[] | null = null;
    // Nothing is noted while a file is folded.
    const others = (): readonly KnownSession[] => {
      kept ??= [...this.#all().values()].filter(({ sessionId }) => sessionId !== self);
      return kept;
    };
    return {
      sessionOf: (threadId) => this.sessionOf(threadId),
      holds: (sessionId, identity) => this.#sharedOf(sessionId).has(sharedDigest(identity)),
      holderOf: (identity) => {
        const digest = sharedDigest(identity);
        const holds = (other: KnownSession): boolean => this.#sharedOf(other.sessionId).has(digest);
        return others().find((other) => holds(other) && !this.#isChildOf(other, self))?.sessionId ?? null;
      },
      callOf: (sessionId, threadId) => this.#callOf(sessionId, threadId),
      sessionOfAnswer: (answerId) => {
        const digest = answerDigest(answerId);
        // The sessions are read by now, and their answers with them.
        const all = others();
        if (!this.#answers.has(digest)) return null;
        return all.find(({ state }) => state?.answers.has(digest) === true)?.sessionId ?? null;
      },
    };
  }

  sessionOf(threadId: string): string | null {
    const plain = threadSessionId(this.#format.prefix, threadId);
    if (this.#all().has(plain)) return plain;
    return this.#byThread.get(threadId) ?? this.#logOf(threadId);
  }

  /** A log that was taken over as it is keeps the id that the thread has. */
  #logOf(threadId: string): string | null {
    const { prefix, hasLogs } = this.#format;
    if (hasLogs !== true) return null;
    const sessionId = isSessionName(threadId) ? threadId : digestedId(prefix, threadId);
    const source = importedSource(firstEventOf(this.#target, sessionId), prefix);
    if (source === null || textMember(source, 'session_id') !== threadId) return null;
    this.reread(sessionId);
    return sessionId;
  }

  /** The first session that a thread id, alias or path leads to is the one. */
  #noteNames({ sessionId, state, threadId, aliases }: KnownSession): void {
    for (const name of [threadId, ...aliases]) {
      if (!this.#byThread.has(name)) this.#byThread.set(name, sessionId);
    }
    if (state !== null) this.#answers.addAll(state.answers);
    for (const { path } of state?.files ?? []) {
      if (!this.#byPath.has(path)) this.#byPath.set(path, sessionId);
    }
  }

  /** Reads what the records of a session share with copies, where a fold will ask and no state has it. */
  async prepare(sessionId: string): Promise<void> {
    const known = this.#all().get(sessionId);
    const isNoted = this.#format.sharing === 'noted' && known?.state !== null;
    if (known === undefined || isNoted || this.#shared.has(sessionId)) return;
    const history = this.#historyOf(sessionId);
    if (history !== null) this.#hold(sessionId, await this.#recover(history));
  }

  /** A thread comes from none that it has started itself, whatever the records of both are called. */
  #isChildOf({ state }: KnownSession, sessionId: string): boolean {
    const parent = state?.runStarted?.['parent'];
    if (!isMembers(parent)) return false;
    // The parent may not have been there when the child came.
    const threadId = textMember(parent, 'thread_id') ?? '';
    return parent['session'] === sessionId || threadSessionId(this.#format.prefix, threadId) === sessionId;
  }

  #callOf(sessionId: string, threadId: string): string | null {
    for (const { mapper } of this.#all().get(sessionId)?.state?.files ?? []) {
      const callId = this.#format.callOf?.(mapper, threadId);
      if (callId !== undefined) return callId;
    }
    return null;
  }

  #sharedOf(sessionId: string): DigestSet {
    return this.#shared.get(sessionId) ?? this.#all().get(sessionId)?.state?.shared ?? noDigests;
  }

  #hold(sessionId: string, set: DigestSet): void {
    this.#shared.set(sessionId, set);
    const [oldest] = this.#shared.keys();
    if (this.#shared.size > setsHeldMax && oldest !== undefined) this.#shared.delete(oldest);
  }

  async #recover(history: SessionHistory): Promise<DigestSet> {
    const set = new DigestSet();
    for (const file of history.files.filter(({ format }) => format === this.#format.name)) {
      const parts = file.passes.flatMap(({ raw }) => raw);
      if (parts.some(({ asset }) => typeof asset !== 'string')) this.#addFile(file, set);
      else
        for (const { asset } of parts) this.#addBytes(await partFrom(this.#assets.read(String(asset))), set);
    }
    return set;
  }

  /** The file itself, where no copy was kept of it; one that is gone says nothing. */
  #addFile({ path, passes }: ImportedFile, set: DigestSet): void {
    const { fs } = this.#target.environment;
    if (fs.status(path)?.kind !== 'file') return;
    const file = fs.open(path, 'read');
    try {
      const to = Math.min(file.status().size, Math.max(0, ...passes.map((pass) => pass.to)));
      this.#addShared(file, to, set);
    } finally {
      file.close();
    }
  }

  #addBytes(bytes: Uint8Array, set: DigestSet): void {
    const source = {
      read: (into: Uint8Array, offset: number): number => {
        const piece = bytes.subarray(offset, offset + into.length);
        into.set(piece);
        return piece.length;
      },
    };
    this.#addShared(source, bytes.length, set);
  }

  #addShared(source: ByteSource, to: number, set: DigestSet): void {
    const window = openWindow(this.#format, source, { from: { offset: 0, line: 1 }, to, isFinal: true });
    for (let piece = window.next(); piece !== null; piece = window.next()) {
      const identity = piece.kind === 'object' ? this.#format.sharedIdentity(piece.object) : undefined;
      if (identity !== undefined) set.add(sharedDigest(identity));
    }
  }

  #all(): Map<string, KnownSession> {
    this.#sessions ??= this.#read();
    return this.#sessions;
  }

  #read(): Map<string, KnownSession> {
    const { environment, sessionsDirectory } = this.#target;
    const { fs } = environment;
    const sessions = new Map<string, KnownSession>();
    if (fs.status(sessionsDirectory) === null) return sessions;
    for (const { name, kind } of fs.list(sessionsDirectory)) {
      if (kind !== 'directory' || !name.startsWith(`${this.#format.prefix}-`)) continue;
      const known = this.#readSession(name);
      if (known === null) continue;
      sessions.set(name, known);
      this.#noteNames(known);
    }
    return sessions;
  }

  #readSession(sessionId: string): KnownSession | null {
    const directory = `${this.#target.sessionsDirectory}/${sessionId}`;
    const state = readImportState(this.#target.environment.fs, directory);
    if (state !== null && state.format === this.#format.name) {
      const { threadId, aliases, format } = state;
      return { sessionId, state, threadId, aliases, formats: [format] };
    }
    const history = this.#historyOf(sessionId);
    if (history === null) return null;
    const { runStarted } = history;
    const aliases = runStarted === null ? [] : runStarted['aliases'];
    const names = Array.isArray(aliases) ? aliases.filter((alias) => typeof alias === 'string') : [];
    const threadId = history.threadId ?? textMember(runStarted ?? {}, 'thread_id') ?? '';
    const formats = history.files.map(({ format }) => format);
    return { sessionId, state: null, threadId, aliases: names, formats };
  }

  /** Null when the log cannot be read: then nothing is known of the session. */
  #historyOf(sessionId: string): SessionHistory | null {
    const { environment, sessionsDirectory } = this.#target;
    try {
      return readHistory(environment.fs, `${sessionsDirectory}/${sessionId}`, sessionId);
    } catch (error) {
      if (isTurnlogError(error)) return null;
      throw error;
    }
  }
}

const noDigests: DigestSet = new DigestSet();

/** What tells whether a file has changed. */
export type PlainFile = Pick<FileState, 'device' | 'inode' | 'size' | 'modifiedMs'>;

export function isSameFile(a: PlainFile, b: PlainFile): boolean {
  return a.device === b.device && a.inode === b.inode && a.size === b.size && a.modifiedMs === b.modifiedMs;
}
