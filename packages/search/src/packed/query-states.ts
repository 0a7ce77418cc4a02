import type { SessionInfo } from '../chunk.js';
import type { AsOf } from '../query-plan.js';
import { CandidateScan } from './block-max.js';
import type { ChunkSource } from './chunk-source.js';
import { SourceFacts } from './source-facts.js';
import { SourceView } from './source-view.js';

/** What is known of all sessions of an index; the revision changes with it. */
interface KnownSessions {
  readonly revision: number;
  readonly infoOf: (session: string) => SessionInfo;
}

/** What queries of one index have in common, kept from one to the next as long as it holds. */
export class QueryStates {
  readonly scan: CandidateScan = new CandidateScan();
  #views = new Map<ChunkSource, SourceView>();
  #facts = new Map<ChunkSource, { readonly mark: string; readonly facts: SourceFacts }>();

  /**
   * The sources in the state that is asked; `sessions` is what is known of their sessions. A past state is found chunk
   * by chunk: when the time is over, sources that are left are not looked at, for a query that ends there.
   */
  viewsOf(
    sources: readonly ChunkSource[],
    asOf: AsOf | null,
    sessions: KnownSessions,
    isOver: () => boolean,
  ): readonly SourceView[] {
    const views: SourceView[] = [];
    for (const source of sources) {
      if (asOf !== null && views.length > 0 && isOver()) break;
      views.push(this.#viewOf(source, asOf, sessions));
    }
    return views;
  }

  #viewOf(source: ChunkSource, asOf: AsOf | null, sessions: KnownSessions): SourceView {
    const facts = this.#factsOf(source, sessions);
    if (asOf !== null) return SourceView.at(source, facts, asOf);
    const known = this.#views.get(source);
    if (known?.facts === facts && known.version === source.tombstones.version) return known;
    const view = SourceView.now(source, facts);
    this.#views.set(source, view);
    return view;
  }

  #factsOf(source: ChunkSource, { revision, infoOf }: KnownSessions): SourceFacts {
    const mark = `${source.chunkCount}:${source.logs.length}:${revision}`;
    const known = this.#facts.get(source);
    if (known?.mark === mark) return known.facts;
    // Most that becomes known is of sessions of which the source holds nothing.
    const infos = source.logs.map(({ session }) => infoOf(session));
    const facts = known?.facts.holdsFor(infos) === true ? known.facts : new SourceFacts(source, infos);
    this.#facts.set(source, { mark, facts });
    return facts;
  }

  /** Lets go of what is known of sources, which are others now. */
  forget(): void {
    this.#views = new Map();
    this.#facts = new Map();
  }

  /** Bytes of the arrays that it holds, but for those that queries work with. */
  get byteLength(): number {
    const held = [...this.#views.values(), ...[...this.#facts.values()].map(({ facts }) => facts)];
    return held.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }
}
