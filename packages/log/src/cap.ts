import { limits, TurnlogError } from '@turnlog/kernel';
import type { SummaryHook } from './summary-hook.js';

/**
 * - `gzip`, `zstd`: evicted bytes go on in `archive/`, compressed. Every runtime opens gzip; zstd needs Node 22.15.
 * - `drop`: they go for good; only the hashes of their lines stay.
 */
export type ArchiveMode = 'gzip' | 'zstd' | 'drop';

/** How long a log may become, and what becomes of the turns that must leave it. */
export interface CapOptions {
  /** Records that the file may hold; 0, the default, is no limit. */
  readonly maxEvents?: number;
  /** Bytes that the file may hold; 0, the default, is no limit. */
  readonly maxBytes?: number;
  /** What part of the limits is left after an eviction, above 0 and up to 1; by default 0.8. */
  readonly target?: number;
  /** How many of the newest closed turns stay whatever the limits say, at least 1, the default. */
  readonly keepTurns?: number;
  /** By default `gzip`. */
  readonly archive?: ArchiveMode;
  /** Makes the summary of what leaves; by default counts and facts, see `summarizeByDefault`. */
  readonly hook?: SummaryHook;
  /** The highest turn that may leave at the moment; by default every closed one may. */
  readonly guard?: () => number;
  /** How long the hook may take, in milliseconds; by default a minute. */
  readonly hookTimeoutMs?: number;
  /** An append that would make the file longer is refused; 0, the default, is no limit. */
  readonly hardMaxBytes?: number;
}

/** A cap with every member, as the planner and its carrying out want it. */
export type Cap = Required<Omit<CapOptions, 'hook' | 'guard'>> & Pick<CapOptions, 'hook' | 'guard'>;

const archiveModes: readonly string[] = ['gzip', 'zstd', 'drop'] satisfies ArchiveMode[];

/**
 * Fills in what was not said, and refuses what cannot be meant.
 *
 * @throws TURNLOG_BAD_CONFIG; details: option, value, rule.
 */
export function checkCap(options: CapOptions): Cap {
  const { maxEvents = 0, maxBytes = 0, hardMaxBytes = 0, keepTurns = 1, target = 0.8 } = options;
  const { archive = 'gzip', hookTimeoutMs = limits.summaryHookMs } = options;
  for (const [option, value] of Object.entries({ maxEvents, maxBytes, hardMaxBytes })) {
    if (!isCount(value)) refuse(option, value, 'a whole number from 0');
  }
  if (!isCount(keepTurns) || keepTurns < 1) refuse('keepTurns', keepTurns, 'a whole number from 1');
  if (!isCount(hookTimeoutMs) || hookTimeoutMs < 1) {
    refuse('hookTimeoutMs', hookTimeoutMs, 'a whole number from 1');
  }
  if (typeof target !== 'number' || !(target > 0 && target <= 1)) {
    refuse('target', target, 'above 0 and up to 1');
  }
  if (!archiveModes.includes(archive)) refuse('archive', archive, archiveModes.join(', '));
  return {
    maxEvents,
    maxBytes,
    target,
    keepTurns,
    archive,
    hookTimeoutMs,
    hardMaxBytes,
    ...(options.hook === undefined ? {} : { hook: options.hook }),
    ...(options.guard === undefined ? {} : { guard: options.guard }),
  };
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function refuse(option: string, value: unknown, rule: string): never {
  throw new TurnlogError('TURNLOG_BAD_CONFIG', {
    details: { option: `cap.${option}`, value: String(value), rule },
    message: `cap.${option} must be ${rule}`,
  });
}
