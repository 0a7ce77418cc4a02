import { isTurnlogError, limits } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import { answerQuestion } from './answer-question.js';
import { ChunkTexts } from './chunk-texts.js';
import { type EngineProvider, Engines } from './engine-choice.js';
import { readQuestion } from './question.js';
import type { Degraded, SearchAnswer } from './search-answer.js';
import type { Searcher, SearchRequest } from './search-request.js';
import { tokenizerName } from './tokenizer.js';

/** Search over the sessions of one store; holds what its engines have open until it is closed. */
export class Search {
  readonly #store: Store;
  readonly #engines: Engines;

  /** `providers` in the order in which they are asked; the last one must always be usable. */
  constructor(store: Store, providers: readonly EngineProvider[]) {
    this.#store = store;
    this.#engines = new Engines(providers);
  }

  /**
   * Answers a request from an index that is brought up to the logs first, for as long as the request waits.
   *
   * @throws as `readQuestion`; TURNLOG_IO: a search that failed is never an empty answer.
   */
  async search(request: SearchRequest, searcher: Searcher): Promise<SearchAnswer> {
    const { clock } = this.#store.environment;
    const startMs = clock.monotonicMs();
    const question = readQuestion(this.#store, request, searcher);
    const { engine, degraded } = await this.#engines.choose(request.engine ?? null);
    const caughtUp = await engine.catchUp(request.waitMs ?? limits.searchWaitMs);
    const { behind, failed } = caughtUp;
    const { index } = engine;
    const texts = new ChunkTexts(this.#store);
    try {
      const isExplained = request.explain === true;
      const answered = answerQuestion({ question, index, texts, searcher, isExplained });
      return {
        query: searcher.redact(request.text),
        syntax: request.syntax ?? 'literal',
        engine: index.name,
        ...answered,
        unindexed_bytes: engine.unindexedBytes,
        behind,
        index: { tokenizer: tokenizerName, generation: index.revision },
        degraded: [...degraded, ...(caughtUp.degraded ?? []), ...failed.map(unreadSession)],
        took_ms: clock.monotonicMs() - startMs,
      };
    } finally {
      texts.close();
    }
  }

  close(): void {
    this.#engines.close();
  }
}

function unreadSession({ session, error }: { readonly session: string; readonly error: unknown }): Degraded {
  return { name: session, reason: isTurnlogError(error) ? error.message : 'it cannot be read' };
}
