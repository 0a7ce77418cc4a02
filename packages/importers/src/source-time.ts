import { parseTimestamp } from '@turnlog/events';

const earliestMs = Date.UTC(2000, 0, 1);
const latestMs = Date.UTC(2100, 0, 1);

/**
 * Milliseconds since the epoch of a time as sources have it: RFC 3339, or a number of seconds or milliseconds of
 * the years 2000 to 2099. Null for everything else: such a time is unknown.
 */
export function sourceTimeMs(value: unknown): number | null {
  if (typeof value === 'string') return parseTimestamp(value);
  if (typeof value !== 'number') return null;
  if (value >= earliestMs && value < latestMs) return Math.floor(value);
  const ms = value * 1_000;
  return ms >= earliestMs && ms < latestMs ? Math.floor(ms) : null;
}
