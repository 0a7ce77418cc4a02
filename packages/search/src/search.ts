import { isTurnlogError, limits, TurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import { type AnsweredQuestion, type Answering, answerQuestion } from './answer-question.js';
import { ChunkTexts } from './chunk-texts.js';
import { type EngineProvider, Engines, type ReadyEngine } from './engine-choice.js';
import type { EncoderProvider } from './hybrid/encoder.js';
import { answerHybrid } from './hybrid/hybrid-answer.js';
import { VectorLists } from './hybrid/vector-list.js';
import type { LexicalIndex } from './lexical-index.js';
import { readQuestion } from './question.js';
import type { Degraded, SearchAnswer } from './search-answer.js';
import type { Searcher, SearchRequest } from './search-request.js';
import { tokenizerName } from './tokenizer.js';

/** Search over the sessions of one store; holds what its engines have open until it is closed. */
export class Search {
  readonly #store: Store;
  readonly #engines: Engines;
  /** What was asked last, and what is built behind it: questions are answered one after the other. */
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;
  readonly #vectors: VectorLists;

  /**
   * `providers` in the order in which they are asked; the last one must always be usable. Likewise `encoders`, of which
   * none need be usable.
   */
  constructor(store: Store, providers: readonly EngineProvider[], encoders: readonly EncoderProvider[] = []) {
    this.#store = store;
    this.#engines = new Engines(providers, store.environment.clock);
    this.#vectors = new VectorLists(store, encoders);
  }

  /**
   * Answers a request from an index that is brought up to the logs first, for as long as the request waits. What is
   * asked meanwhile is answered behind it: an index is brought up to the logs by one question at a time.
   *
   * @throws as `readQuestion`; TURNLOG_CLOSED; TURNLOG_IO: a search that failed is never an empty answer.
   */
  async search(request: SearchRequest, searcher: Searcher): Promise<SearchAnswer> {
    const startMs = this.#store.environment.clock.monotonicMs();
    const answered = this.#last.then(() => this.#search(request, searcher, startMs));
    // That it failed is told to whoever asked it.
    this.#last = answered.then(
      () => this.#build(request),
      () => this.#build(request),
    );
    return await answered;
  }

  async #search(request: SearchRequest, searcher: Searcher, startMs: number): Promise<SearchAnswer> {
    if (this.#isClosed) throw new TurnlogError('TURNLOG_CLOSED', { details: { what: 'search' } });
    const { clock } = this.#store.environment;
    const question = readQuestion(this.#store, request, searcher);
    const { budgetMs = Number.POSITIVE_INFINITY, waitMs = limits.searchWaitMs, signal } = request;
    const tookMs = (): number => clock.monotonicMs() - startMs;
    const isBehind = (ms: number): boolean => signal?.aborted === true || tookMs() >= ms;
    const texts = new ChunkTexts(this.#store);
    try {
      for (let attempt = 1; ; attempt += 1) {
        const readyMs = Math.max(0, Math.min(waitMs, budgetMs - tookMs()));
        const ready = await this.#engines.ready(request.engine ?? null, readyMs, signal);
        const { index } = ready.engine;
        const damage = damageCount(index);
        const isExplained = request.explain === true;
        const isOver = (): boolean => isBehind(budgetMs);
        const answering = { question, index, texts, searcher, isExplained, isOver };
        const answered = await this.#answer(answering, request.mode, () => isBehind(waitMs));
        // Damage that was met on the way has left something out: what was lost is read again, or another one answers.
        if (damageCount(index) > damage && attempt < limits.searchAnswersMax) continue;
        return { ...answerOf(request, searcher, ready, answered), took_ms: tookMs() };
      }
    } finally {
      texts.close();
    }
  }

  async #answer(
    answering: Answering,
    mode: SearchRequest['mode'],
    isWaitOver: () => boolean,
  ): Promise<AnsweredQuestion & Pick<SearchAnswer, 'degraded'>> {
    return mode === 'hybrid'
      ? await answerHybrid(answering, this.#vectors, isWaitOver)
      : { ...answerQuestion(answering), degraded: [] };
  }

  /**
   * Resolves when all is answered that was asked, and no work is under way that an answer has left: where another
   * engine answered because an index was missing or damaged, that index is built on, for as long as the answer was
   * allowed to wait.
   */
  async settled(): Promise<void> {
    await this.#last;
    await this.#engines.settled();
  }

  async #build({ waitMs = limits.searchWaitMs, signal }: SearchRequest): Promise<void> {
    if (this.#isClosed) return;
    try {
      await this.#engines.build(waitMs, signal);
    } catch (error) {
      // What cannot be built is told by the next answer; a search that is closed builds no more.
      if (!isTurnlogError(error)) throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#engines.close();
  }
}

function damageCount({ state }: LexicalIndex): number {
  return state.kind === 'incomplete' ? state.reasons.length : 0;
}

function answerOf(
  { text, syntax = 'literal' }: SearchRequest,
  { redact }: Searcher,
  { engine, behind, failed, degraded }: ReadyEngine,
  { degraded: missingLists, ...answered }: AnsweredQuestion & Pick<SearchAnswer, 'degraded'>,
): Omit<SearchAnswer, 'took_ms'> {
  const { index, unindexedBytes } = engine;
  return {
    query: redact(text),
    syntax,
    engine: index.name,
    ...answered,
    unindexed_bytes: unindexedBytes,
    behind,
    index: { tokenizer: tokenizerName, generation: index.revision },
    degraded: [...degraded, ...failed.map(unreadSession), ...missingLists],
  };
}

function unreadSession({ session, error }: { readonly session: string; readonly error: unknown }): Degraded {
  return { name: session, reason: isTurnlogError(error) ? error.message : 'it cannot be read' };
}
