import { join } from 'node:path';
import {
  type FileKind,
  type FileStatus,
  type FileSystem,
  isTurnlogError,
  TurnlogError,
} from '@turnlog/kernel';

/** Folders are followed no deeper. */
const levelsMax = 32;
/** More files than these are no agent's folder. */
const filesMax = 1_000_000;

/** Agents whose usual places are known. */
export type AgentName = 'codex' | 'claude';

/** Where agents keep their files, as home and environment of a user say; read by the caller. */
export interface AgentPlaces {
  readonly home?: string | undefined;
  /** `$CODEX_HOME`. */
  readonly codexHome?: string | undefined;
  /** `$CLAUDE_CONFIG_DIR`: several are separated by commas. */
  readonly claudeConfigDir?: string | undefined;
  /** `$XDG_CONFIG_HOME`. */
  readonly xdgConfigHome?: string | undefined;
}

/** The folders that hold an agent's threads. A variable that is set takes the place of the usual ones. */
export function usualPlaces(agent: AgentName, places: AgentPlaces): readonly string[] {
  const { home, codexHome, claudeConfigDir, xdgConfigHome } = places;
  if (agent === 'codex') {
    const base = given(codexHome) ?? (home === undefined ? undefined : join(home, '.codex'));
    return base === undefined ? [] : [join(base, 'sessions'), join(base, 'archived_sessions')];
  }
  const named = (claudeConfigDir ?? '').split(',').map((part) => part.trim());
  const set = named.filter((part) => part !== '');
  if (set.length > 0) return set.map((part) => join(part, 'projects'));
  const config = given(xdgConfigHome) ?? (home === undefined ? undefined : join(home, '.config'));
  return [
    ...(home === undefined ? [] : [join(home, '.claude', 'projects')]),
    ...(config === undefined ? [] : [join(config, 'claude', 'projects')]),
  ];
}

function given(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

export interface FoundFile {
  readonly path: string;
  readonly status: FileStatus;
  /** Named by the caller, and not found in a folder. */
  readonly isNamed: boolean;
}

/** A place that gave no file, and why. */
export interface MissedPlace {
  readonly path: string;
  readonly error: TurnlogError;
}

export interface Discovery {
  readonly files: readonly FoundFile[];
  readonly links: readonly string[];
  readonly unreadable: readonly MissedPlace[];
  /** Named by the caller and not there. */
  readonly missing: readonly MissedPlace[];
}

export interface PlaceToSearch {
  readonly path: string;
  /** Whether it must be there. */
  readonly isNamed: boolean;
}

/**
 * The regular files at and below some places, each once, folders in byte order. Links are counted and not
 * followed; what cannot be read is counted and hides nothing else.
 */
export function discoverSources(fs: FileSystem, places: readonly PlaceToSearch[]): Discovery {
  const search = new Search(fs);
  for (const place of places) search.begin(place);
  return search;
}

class Search implements Discovery {
  readonly files: FoundFile[] = [];
  readonly links: string[] = [];
  readonly unreadable: MissedPlace[] = [];
  readonly missing: MissedPlace[] = [];
  readonly #fs: FileSystem;
  readonly #seen = new Set<string>();

  constructor(fs: FileSystem) {
    this.#fs = fs;
  }

  begin({ path, isNamed }: PlaceToSearch): void {
    const status = this.#tried(path, () => this.#fs.status(path));
    if (status === undefined) return;
    if (status === null) {
      if (isNamed) {
        this.missing.push({ path, error: new TurnlogError('TURNLOG_NOT_FOUND', { details: { path } }) });
      }
      return;
    }
    this.#visit(path, status.kind, status, isNamed, 0);
  }

  #visit(path: string, kind: FileKind, known: FileStatus | null, isNamed: boolean, level: number): void {
    if (this.#seen.has(path) || this.files.length >= filesMax) return;
    this.#seen.add(path);
    if (kind === 'link') this.links.push(path);
    else if (kind === 'directory') this.#list(path, level);
    else if (kind === 'file') this.#addFile(path, known, isNamed);
  }

  #addFile(path: string, known: FileStatus | null, isNamed: boolean): void {
    const status = known ?? this.#tried(path, () => this.#fs.status(path));
    if (status?.kind === 'file') this.files.push({ path, status, isNamed });
  }

  #list(path: string, level: number): void {
    if (level > levelsMax) {
      const error = new TurnlogError('TURNLOG_UNSAFE_PATH', { details: { path, reason: 'nested too deep' } });
      this.unreadable.push({ path, error });
      return;
    }
    const entries = this.#tried(path, () => this.#fs.list(path)) ?? [];
    for (const { name, kind } of entries) this.#visit(join(path, name), kind, null, false, level + 1);
  }

  /** Undefined when it failed, which is noted. */
  #tried<T>(path: string, look: () => T): T | undefined {
    try {
      return look();
    } catch (error) {
      if (!isTurnlogError(error)) throw error;
      this.unreadable.push({ path, error });
      return undefined;
    }
  }
}
