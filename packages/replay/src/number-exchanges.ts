import { type Exchange, exchangeKey, type MatchRules } from './fixture.js';
import type { CallDraft } from './recorded-calls.js';

/** Drafts with numbers, keys, groups and order of completion. */
export function numberExchanges(
  drafts: readonly CallDraft[],
  match: MatchRules,
  clockStartMs: number,
): readonly Exchange[] {
  const groups = groupsOf(drafts);
  const ends = endsOf(drafts);
  return drafts.map((draft, position) => {
    const { port, request, outcome, response, error, start, end } = draft;
    return {
      n: position + 1,
      port,
      kind: 'call',
      key: exchangeKey(port, request, match),
      request,
      outcome,
      response,
      error,
      chunks: null,
      startSeq: start.seq,
      endSeq: end?.seq ?? null,
      startMs: start.tsMs === null ? null : Math.max(start.tsMs - clockStartMs, 0),
      durationMs: Math.max((end?.tsMs ?? 0) - (start.tsMs ?? 0), 0),
      parallel: groups[position] ?? 0,
      end: ends[position] ?? position + 1,
      isDerived: port === 'model',
    };
  });
}

/** A number for each run of tool calls that overlapped; a call that never ended overlaps nothing. */
function groupsOf(drafts: readonly CallDraft[]): readonly number[] {
  const groups = drafts.map(() => 0);
  let count = 0;
  let reach = 0;
  let last = -1;
  drafts.forEach(({ port, start, end }, position) => {
    if (port !== 'tool' || end === null) return;
    if (last >= 0 && start.seq < reach) {
      if (groups[last] === 0) {
        count += 1;
        groups[last] = count;
      }
      groups[position] = groups[last] ?? 0;
    }
    reach = Math.max(reach, end.seq);
    last = position;
  });
  return groups;
}

function endsOf(drafts: readonly CallDraft[]): readonly number[] {
  const endOf = (position: number): number => drafts[position]?.end?.seq ?? Number.MAX_SAFE_INTEGER;
  const order = drafts.map((_, position) => position);
  order.sort((left, right) => endOf(left) - endOf(right) || left - right);
  const ends = drafts.map(() => 0);
  order.forEach((position, place) => {
    ends[position] = place + 1;
  });
  return ends;
}
