import type { UsageCounts } from '@turnlog/events';
import type { JsonObject, JsonValue } from '@turnlog/kernel';
import { dollars } from './prices.js';
import type { StatsReport } from './statistics.js';
import type { Cost, Measures } from './stats-measures.js';
import type { StatsDimension, StatsKey } from './stats-table.js';

/**
 * The members of a report for JSON output, but for `schema_version`: whole numbers that a double cannot hold are
 * texts with a sibling `…_exact`, what is unknown is null, and a row holds only what can be told by its key.
 */
export function statsJson(report: StatsReport, timeText: (tsMs: number) => string): JsonObject {
  const { by, zone, since, until, total, importedRows } = report;
  return {
    zone,
    by,
    since: since === null ? null : timeText(since),
    until: until === null ? null : timeText(until),
    rows: report.rows.map(({ key, measures, sessionCount }) => ({
      ...keyJson(by, key),
      sessions: sessionCount,
      ...measuresJson(by, measures),
    })),
    total: { sessions: report.sessionCount, ...measuresJson([], total) },
    unknown_time: measuresJson([], report.unknownTime),
    imported: { raw_rows: importedRows.raw, unique_rows: importedRows.unique, answers: importedRows.answers },
    differences: report.differences.map(({ session, thread, turns }) => ({
      session,
      thread: usageJson(thread),
      turns: usageJson(turns),
    })),
    links: report.links.map(({ session, linkedTo }) => ({ session, linked_to: linkedTo })),
    unread: report.unread.map(({ session, code, message }) => ({ session, code, message })),
  };
}

/** A day nobody knows is the bucket `unknown`, which is no day; of other keys it is null. */
function keyJson(by: readonly StatsDimension[], key: StatsKey): JsonObject {
  return Object.fromEntries(
    by.map((name): [string, JsonValue] => [name, key[name] ?? (name === 'day' ? unknownDay : null)]),
  );
}

/** The bucket of what happened at an unknown time. */
export const unknownDay = 'unknown';

function measuresJson(by: readonly StatsDimension[], measures: Measures): JsonObject {
  const usage = {
    answers: measures.answerCount,
    usage: measures.usage === null ? null : usageJson(measures.usage),
    cost: costJson(measures.cost),
  };
  const calls = { tool_calls: measures.callCount, failed_tool_calls: measures.failedCallCount };
  if (by.includes('model')) return usage;
  if (by.includes('tool')) return calls;
  const { eventCount: events, turnCount: turns, turnsWithoutUsage } = measures;
  return { events, turns, without_usage: turnsWithoutUsage, ...usage, ...calls };
}

/** Token counts under the names of the contract. */
export function usageJson({ input, cached, creation, output }: UsageCounts): JsonObject {
  return {
    ...countJson('input_tokens', input),
    ...countJson('cached_input_tokens', cached),
    ...countJson('cache_creation_tokens', creation),
    ...countJson('output_tokens', output),
  };
}

function countJson(name: string, count: bigint): JsonObject {
  if (count <= BigInt(Number.MAX_SAFE_INTEGER)) return { [name]: Number(count) };
  return { [name]: count.toString(), [`${name}_exact`]: true };
}

function costJson({ picodollars, sources, unpricedCount }: Cost): JsonObject {
  return { usd: picodollars === null ? null : dollars(picodollars), sources, unpriced: unpricedCount };
}
