import { parseTimestamp } from '@turnlog/events';
import { isTurnlogError, limits, TurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import { parseChunkId } from './chunk-id.js';
import { decodePageCursor, type PageCursor } from './page-cursor.js';
import { type ParsedQuery, parseQuery } from './parse-query.js';
import type { AsOf, QueryPlan } from './query-plan.js';
import { readFilters, uniteFilters } from './search-filters.js';
import type { Searcher, SearchRequest } from './search-request.js';

/** A request that has been read. */
export interface Question {
  readonly parsed: ParsedQuery;
  /** All terms are in it; before it is asked they are cut to those that count. */
  readonly plan: QueryPlan;
  readonly cursor: PageCursor | null;
  /** All that an answer depends on besides the corpus: a cursor belongs to it. */
  readonly asked: unknown;
}

/**
 * Reads a request.
 *
 * @throws TURNLOG_QUERY_TOO_LONG, NOTHING_TO_SEARCH, BAD_FLAG, CURSOR_MISMATCH; NOT_FOUND and AMBIGUOUS_ID of a
 *   session that it names.
 */
export function readQuestion(store: Store, request: SearchRequest, searcher: Searcher): Question {
  const { syntax = 'literal', minScore = 0, group = 'none', facets = false } = request;
  const parsed = parseQuery(request.text, syntax);
  const asOf = request.asOf === undefined ? null : readAsOf(store, request.asOf);
  const nowMs = asOf?.tsMs ?? store.environment.clock.now();
  const limit = checkedLimit(request.limit ?? limits.searchHits);
  const written = uniteFilters(request.filters ?? new Map(), parsed.filters);
  const filters = readFilters(written, {
    resolveSession: (text) => store.resolve(text),
    resolveWorkspace: searcher.resolveWorkspace,
    zone: searcher.zone,
    nowMs,
    hidden: request.includeHidden === true ? 'included' : 'left-out',
  });
  const asked = {
    text: request.text,
    syntax,
    filters: [...written],
    asOf: request.asOf ?? null,
    minScore,
    group,
    hidden: filters.hidden,
    ...(request.mode === 'hybrid' ? { mode: request.mode } : {}),
  };
  const cursor = request.cursor === undefined ? null : decodePageCursor(asked, request.cursor);
  const plan: QueryPlan = {
    terms: parsed.terms,
    whole: parsed.whole,
    required: parsed.required,
    excluded: parsed.excluded,
    filters,
    asOf,
    nowMs,
    minScore,
    group,
    limit,
    after: cursor?.after ?? null,
    counting: limit === 0 ? 'exact' : 'saturating',
    facets: facets ? 'counted' : 'none',
  };
  return { parsed, plan, cursor, asked };
}

function checkedLimit(limit: number): number {
  if (Number.isSafeInteger(limit) && limit >= 0 && limit <= limits.searchHitsMax) return limit;
  throw new TurnlogError('TURNLOG_BAD_FLAG', {
    details: { flag: 'limit', value: limit },
    message: `a search gives 0 to ${limits.searchHitsMax} hits, not ${limit}`,
  });
}

/** The moment in a time or in the id of a record (SE-34). */
function readAsOf(store: Store, text: string): AsOf {
  const tsMs = parseTimestamp(text);
  if (tsMs !== null) return { tsMs, session: null };
  const key = parseChunkId(text);
  if (key === null) {
    throw new TurnlogError('TURNLOG_BAD_FLAG', {
      details: { flag: 'as-of', value: text },
      message: `a moment is a time in RFC 3339 or session:seq, not ${JSON.stringify(text)}`,
    });
  }
  const id = store.resolve(key.session);
  return { tsMs: timeOfRecord(store, id, key.seq), session: { id, seq: key.seq } };
}

/** The time of a record, or the last one known before it; none at all is before everything else. */
function timeOfRecord(store: Store, id: string, seq: number): number {
  const reader = store.read(id);
  try {
    // Of a moment that nobody can place no state can be told.
    const { highestSeq } = reader.state.order;
    if (seq > highestSeq) {
      throw new TurnlogError('TURNLOG_NOT_FOUND', {
        details: { sessionId: id, seq, highestSeq },
        message: `there is no record ${id}:${seq}; the last one is ${highestSeq}`,
      });
    }
    let newest = Number.NEGATIVE_INFINITY;
    const from = Math.max(seq - limits.asOfLookBackRecords, reader.firstReadableSeq);
    for (const { ts } of reader.readRange(from, seq, { archived: true })) {
      newest = (ts === null ? null : parseTimestamp(ts)) ?? newest;
    }
    return newest;
  } catch (error) {
    if (isTurnlogError(error, 'TURNLOG_GONE')) return Number.NEGATIVE_INFINITY;
    throw error;
  } finally {
    reader.close();
  }
}
