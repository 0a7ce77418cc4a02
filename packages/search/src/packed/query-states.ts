import type { SessionInfo } from '../chunk.js';
import type { AsOf } from '../query-plan.js';
import { CandidateScan } from './block-max.js';
import type { ChunkSource } from './chunk-source.js';
import { SourceFacts } from './source-facts.js';
import { SourceView } from './source-view.js';

interface Kept<Value> {
  readonly mark: string;
  readonly value: Value;
}

/** What queries of one index have in common, kept from one to the next as long as it holds. */
export class QueryStates {
  readonly scan: CandidateScan = new CandidateScan();
  #views = new Map<ChunkSource, Kept<SourceView>>();
  #facts = new Map<ChunkSource, Kept<SourceFacts>>();

  /** The sources in the state that is asked; `sessions` is what is known of their sessions. */
  viewsOf(
    sources: readonly ChunkSource[],
    asOf: AsOf | null,
    sessions: { readonly revision: number; readonly infoOf: (session: string) => SessionInfo },
  ): readonly SourceView[] {
    return sources.map((source) => {
      const chunks = `${source.chunkCount}:${source.logs.length}`;
      const facts = kept(
        this.#facts,
        source,
        `${chunks}:${sessions.revision}`,
        () => new SourceFacts(source, sessions.infoOf),
      );
      if (asOf !== null) return SourceView.at(source, facts, asOf);
      const mark = `${chunks}:${sessions.revision}:${source.tombstones.version}`;
      return kept(this.#views, source, mark, () => SourceView.now(source, facts));
    });
  }

  /** Lets go of what is known of sources, which are others now. */
  forget(): void {
    this.#views = new Map();
    this.#facts = new Map();
  }

  /** Bytes of the arrays that it holds. */
  get byteLength(): number {
    const held = [...this.#views.values(), ...this.#facts.values()];
    return held.reduce((sum, { value }) => sum + value.byteLength, this.scan.byteLength);
  }
}

function kept<Value>(
  known: Map<ChunkSource, Kept<Value>>,
  source: ChunkSource,
  mark: string,
  make: () => Value,
): Value {
  const before = known.get(source);
  if (before?.mark === mark) return before.value;
  const value = make();
  known.set(source, { mark, value });
  return value;
}
