const msOfDay = 86_400_000;

/** The greatest factor there is, for bounds. */
export const recencyFactorMax = 1.1;

/**
 * What newer chunks are worth more (SE-21): 1.1 now, half of the tenth after 30 days, and never below 1. A time that
 * is unknown, or later than `nowMs`, counts as long ago.
 */
export function recencyFactor(tsMs: number | null, nowMs: number): number {
  if (tsMs === null || tsMs > nowMs) return 1;
  return 1 + 0.1 * 2 ** (-(nowMs - tsMs) / msOfDay / 30);
}

/** No factor of a time up to `newestMs` is greater: it falls with age, and what is later than `nowMs` counts as old. */
export function recencyBound(newestMs: number, nowMs: number): number {
  return newestMs > nowMs ? recencyFactorMax : recencyFactor(newestMs, nowMs);
}
