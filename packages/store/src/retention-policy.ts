import { limits, TurnlogError } from '@turnlog/kernel';

/** How a store is kept bounded, as somebody says it: whole numbers from 0 on. 0 switches a part off. */
export interface RetentionOptions {
  /** So many sessions stay, the newest ones. Off by default. */
  readonly maxSessions?: number;
  /** Sessions whose last known event is older are removed. Off by default. */
  readonly maxAgeDays?: number;
  /** The same in milliseconds, for ages that are no whole days; goes before days. */
  readonly maxAgeMs?: number;
  /** Sessions that hold nothing are removed after this long, by default an hour. */
  readonly emptyAfterMs?: number;
  /** Removed sessions are purged after so many days in the trash, by default 30. */
  readonly trashDays?: number;
}

/** The same, checked; null where a part is off. */
export interface RetentionPolicy {
  readonly maxSessions: number | null;
  readonly maxAgeMs: number | null;
  readonly emptyAfterMs: number | null;
  readonly trashMs: number | null;
}

const dayMs = 86_400_000;
const ageMsMax: number = limits.retentionDaysMax * dayMs;

/**
 * Checks the values of a policy; what is too large to make a difference is the largest that does.
 *
 * @throws TURNLOG_BAD_CONFIG for what is no whole number from 0 on: -1, 0.5, NaN, "30"; details: name, value.
 */
export function retentionPolicy(options: RetentionOptions): RetentionPolicy {
  const {
    maxSessions,
    maxAgeDays,
    maxAgeMs,
    emptyAfterMs = limits.emptySessionKeepMs,
    trashDays = limits.trashDays,
  } = options;
  const ageMs = (name: string, value: number | undefined, unitMs: number): number | null => {
    const checked = checkedValue(name, value);
    return checked === null ? null : Math.min(checked * unitMs, ageMsMax);
  };
  return {
    maxSessions: checkedValue('maxSessions', maxSessions),
    maxAgeMs:
      maxAgeMs === undefined ? ageMs('maxAgeDays', maxAgeDays, dayMs) : ageMs('maxAgeMs', maxAgeMs, 1),
    emptyAfterMs: ageMs('emptyAfterMs', emptyAfterMs, 1),
    trashMs: ageMs('trashDays', trashDays, dayMs),
  };
}

/** Takes any value, because callers without types give some; null when the part is off. */
function checkedValue(name: string, value: unknown): number | null {
  if (value === undefined || value === 0) return null;
  if (value === Number.POSITIVE_INFINITY) return Number.MAX_SAFE_INTEGER;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) {
    return Math.min(value, Number.MAX_SAFE_INTEGER);
  }
  throw new TurnlogError('TURNLOG_BAD_CONFIG', {
    details: { name, value: typeof value === 'number' ? String(value) : (value ?? null) },
    message: `${name} must be a whole number from 0 on`,
  });
}
