import type { SessionInfo } from '../chunk.js';
import { type ChunkSource, ordinalsOfLog } from './chunk-source.js';

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
  #hidden: Uint8Array | null = null;

  constructor(source: ChunkSource, infoOf: (session: string) => SessionInfo) {
    this.#source = source;
    this.infos = source.logs.map(({ session }) => infoOf(session));
    this.mayHide = source.hasContext || this.infos.some(({ agent }) => agent !== 'primary');
  }

  /** By ordinal: 1 for chunks that are left out when no kind is asked for. */
  get hidden(): Uint8Array {
    this.#hidden ??= this.#findHidden();
    return this.#hidden;
  }

  /** Bytes of the arrays that it holds. */
  get byteLength(): number {
    return this.#hidden?.byteLength ?? 0;
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
