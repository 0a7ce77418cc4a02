import type { SessionInfo } from '../chunk.js';
import { type ChunkSource, ordinalsOfLog } from './chunk-source.js';

/** How many ordinals have their newest time found together. */
export const timeBlockChunks = 4_096;

/**
 * What filters ask of a source again and again, and what changes only with its chunks and with what is known of its
 * sessions.
 */
export class SourceFacts {
  /** By number of log. */
  readonly infos: readonly SessionInfo[];
  /** Whether any chunk is left out unless it is asked for: context, or of a session of a program. */
  readonly mayHide: boolean;
  readonly #source: ChunkSource;
  readonly #chunkCount: number;
  #hidden: Uint8Array | null = null;
  /** By block of ordinals its newest time; not a number where nobody asked yet. */
  readonly #newest: Float64Array;

  constructor(source: ChunkSource, infos: readonly SessionInfo[]) {
    this.#source = source;
    this.infos = infos;
    this.#chunkCount = source.chunkCount;
    this.#newest = new Float64Array(Math.ceil(source.chunkCount / timeBlockChunks)).fill(Number.NaN);
    this.mayHide = source.hasContext || this.infos.some(({ agent }) => agent !== 'primary');
  }

  /** Whether it is still what there is to know, when this is what is known of the sessions. */
  holdsFor(infos: readonly SessionInfo[]): boolean {
    const { chunkCount } = this.#source;
    return this.#chunkCount === chunkCount && areSameInfos(this.infos, infos);
  }

  /** By ordinal: 1 for chunks that are left out when no kind is asked for. */
  get hidden(): Uint8Array {
    this.#hidden ??= this.#findHidden();
    return this.#hidden;
  }

  /** No chunk of `[from, to)` is newer; unknown times are older than all others. */
  newestIn(from: number, to: number): number {
    let newest = Number.NEGATIVE_INFINITY;
    const last = Math.ceil(Math.min(to, this.#source.chunkCount) / timeBlockChunks);
    for (let block = Math.floor(from / timeBlockChunks); block < last; block += 1) {
      newest = Math.max(newest, this.#newestOf(block));
    }
    return newest;
  }

  /** Bytes of the arrays that it holds. */
  get byteLength(): number {
    return this.#newest.byteLength + (this.#hidden?.byteLength ?? 0);
  }

  #newestOf(block: number): number {
    const known = this.#newest[block] ?? Number.NaN;
    if (!Number.isNaN(known)) return known;
    const source = this.#source;
    let newest = Number.NEGATIVE_INFINITY;
    const end = Math.min((block + 1) * timeBlockChunks, source.chunkCount);
    const times = source.times();
    for (let ordinal = block * timeBlockChunks; ordinal < end; ordinal += 1) {
      const time = times[ordinal] ?? Number.NaN;
      if (time > newest) newest = time;
    }
    this.#newest[block] = newest;
    return newest;
  }

  #findHidden(): Uint8Array {
    const source = this.#source;
    const hidden = new Uint8Array(source.chunkCount);
    for (let ordinal = 0; source.hasContext && ordinal < hidden.length; ordinal += 1) {
      if (source.kind(ordinal) === 'context') hidden[ordinal] = 1;
    }
    for (const [log, { agent }] of this.infos.entries()) {
      if (agent === 'primary') continue;
      for (const ordinal of ordinalsOfLog(source, log)) hidden[ordinal] = 1;
    }
    return hidden;
  }
}

function areSameInfos(left: readonly SessionInfo[], right: readonly SessionInfo[]): boolean {
  return left.length === right.length && left.every((info, at) => isSameInfo(info, right[at]));
}

/** Whether filters would find nothing else. */
export function isSameInfo(left: InfoInFilters, right: InfoInFilters | undefined): boolean {
  return (
    right !== undefined &&
    left.agent === right.agent &&
    left.workspaces.length === right.workspaces.length &&
    left.workspaces.every((workspace, at) => workspace === right.workspaces[at])
  );
}

type InfoInFilters = Pick<SessionInfo, 'workspaces' | 'agent'>;
