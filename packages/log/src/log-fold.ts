import {
  type DamageKind,
  type LifecycleKind,
  type Ordered,
  type OrderFlag,
  parseTimestamp,
} from '@turnlog/events';
import { marksFrame, stepFrame } from './frame-step.js';
import { raiseTurnCount, step } from './lifecycle.js';
import {
  type DamageTotals,
  type EvictedTotals,
  type FramesState,
  type LineSpan,
  type LogState,
  noFrame,
} from './log-state.js';
import { changesFacts, factsAfter, isPlainObject } from './session-facts.js';

/** What the fold needs to know of a record, whether it was just appended or read back. */
export interface FoldedRecord {
  readonly type: string;
  readonly kind: LifecycleKind;
  /** Whether it carries an idempotency key. */
  readonly hasKey: boolean;
  /** `[start, end)` of the record in the file, its 0x0A included where it has one. */
  readonly start: number;
  readonly end: number;
  /** The line that the record ends on. */
  readonly line: LineSpan;
  readonly ordered: Ordered;
  /** The event's value; asked for only where it changes what is known of the log. Null when it cannot be built. */
  readonly readEvent: () => unknown;
  /** Its leaf hash; asked for only inside of a frame. */
  readonly leaf: () => string;
}

/** The state after one more record. The only way a record changes what is known of a log. */
export function foldRecord(state: LogState, record: FoldedRecord): LogState {
  const isFirst = isBeforeFirstRecord(state);
  if (isFirst && record.type === 'log.evicted') return foldHeader(state, record);
  const { seq, tsMs, flags } = record.ordered;
  let lifecycle = state.lifecycle;
  if (isFirst && record.type === 'log.imported') lifecycle = raiseTurnCount(lifecycle, turnBase(record) - 1);
  lifecycle = step(lifecycle, record.kind, { start: record.start, end: record.end, seq, tsMs });
  if (record.type === 'log.recovered') lifecycle = raiseTurnCount(lifecycle, turnsLostBefore(record));
  // Named one by one: spreading an object costs more than all the rest, once for each record of a log.
  const { keyCount, facts, frames } = foldFrame(state, record);
  return {
    length: record.end,
    lifecycle,
    order: record.ordered.state,
    firstSeq: state.firstSeq ?? seq,
    firstTsMs: state.firstTsMs ?? tsMs,
    newestTsMs: newest(state.newestTsMs, tsMs),
    head: state.head ?? record.line,
    tail: record.line,
    damage: state.damage,
    evicted: state.evicted,
    firstTurn: state.firstTurn ?? lifecycle.open?.turn ?? null,
    isPrefixMissing: state.isPrefixMissing || (isFirst && seq > 1),
    unorderedCount: state.unorderedCount + (isUnordered(flags) ? 1 : 0),
    keyCount,
    facts,
    frames,
  };
}

type Framed = Pick<LogState, 'keyCount' | 'facts' | 'frames'>;

/** What a record adds by itself is known at once, what it adds as a member of a frame only with the commit. */
function foldFrame(state: LogState, record: FoldedRecord): Framed {
  const { open } = state.frames;
  if (open === null && !marksFrame(record.type)) {
    const known = withRecord(state, record);
    return { keyCount: known.keyCount, facts: known.facts, frames: noFrame };
  }
  const { open: frame, place } = stepFrame(open?.frame ?? null, record);
  const frames = (known: Pick<LogState, 'keyCount' | 'facts'>): FramesState => ({
    place,
    open: frame === null ? null : { frame, facts: known.facts, keyCount: known.keyCount },
  });
  const { facts, keyCount } = state;
  switch (place) {
    case 'begin':
      return { facts, keyCount, frames: frames(withRecord(state, record)) };
    case 'member':
      return { facts, keyCount, frames: frames(withRecord(open ?? state, record)) };
    case 'commit':
      return { ...withRecord(open ?? state, record), frames: { place, open: null } };
    case 'alone': {
      const known = withRecord(state, record);
      return { ...known, frames: frames(known) };
    }
    default:
      return { facts, keyCount, frames: { place, open: null } };
  }
}

function withRecord(
  known: Pick<LogState, 'keyCount' | 'facts'>,
  record: FoldedRecord,
): Pick<LogState, 'keyCount' | 'facts'> {
  return {
    keyCount: known.keyCount + (record.hasKey ? 1 : 0),
    facts: changesFacts(record.type) ? foldFacts(known.facts, record.readEvent()) : known.facts,
  };
}

/** Whether no record has been read yet, the header of an eviction included. */
export function isBeforeFirstRecord(state: LogState): boolean {
  return state.lifecycle.eventCount === 0 && state.evicted === null;
}

/** The state after bytes that hold no record. */
export function foldDamage(
  state: LogState,
  damage: {
    readonly kind: DamageKind;
    readonly offset: number;
    readonly length: number;
    readonly end: number;
    readonly line: LineSpan;
  },
): LogState {
  return {
    ...state,
    length: damage.end,
    head: state.head ?? damage.line,
    tail: damage.line,
    damage: damageAfter(state.damage, damage),
  };
}

/** Whether damage at `offset` belongs to the place that ended at `last.end`: the same kind, at most a 0x0A between. */
export function isAdjacentDamage(
  last: DamageTotals['last'],
  damage: { readonly kind: DamageKind; readonly offset: number },
): boolean {
  return (
    last !== null &&
    last.kind === damage.kind &&
    (damage.offset === last.end || damage.offset === last.end + 1)
  );
}

function damageAfter(
  totals: DamageTotals,
  damage: { readonly kind: DamageKind; readonly offset: number; readonly length: number },
): DamageTotals {
  return {
    count: totals.count + (isAdjacentDamage(totals.last, damage) ? 0 : 1),
    bytes: totals.bytes + damage.length,
    last: { kind: damage.kind, end: damage.offset + damage.length },
  };
}

function isUnordered(flags: readonly OrderFlag[]): boolean {
  return flags.length > 0 && (flags.includes('seq-repeat') || flags.includes('seq-conflict'));
}

/** A header stands for what left the log: it is no event of the count, and numbering goes on behind it. */
function foldHeader(state: LogState, record: FoldedRecord): LogState {
  const event = record.readEvent();
  const members = isPlainObject(event) ? event : {};
  const evicted: EvictedTotals = {
    toSeq: record.ordered.seq,
    events: wholeNumber(members['total_events']),
    turns: wholeNumber(members['total_turns']),
    lastTurn: wholeNumber(members['last_turn']),
  };
  return {
    ...state,
    length: record.end,
    lifecycle: raiseTurnCount(state.lifecycle, evicted.lastTurn),
    order: record.ordered.state,
    firstTsMs: timeOrNull(members['first_ts']) ?? record.ordered.tsMs,
    newestTsMs: record.ordered.tsMs,
    head: record.line,
    tail: record.line,
    evicted,
    facts: foldCarried(state, members['carried']),
  };
}

function newest(known: number | null, tsMs: number | null): number | null {
  return known === null || (tsMs !== null && tsMs > known) ? tsMs : known;
}

function timeOrNull(value: unknown): number | null {
  return typeof value === 'string' ? parseTimestamp(value) : null;
}

function foldCarried(state: LogState, carried: unknown): LogState['facts'] {
  if (!Array.isArray(carried)) return state.facts;
  let facts = state.facts;
  for (const entry of carried) {
    if (isPlainObject(entry) && isPlainObject(entry['event'])) facts = factsAfter(facts, entry['event']);
  }
  return facts;
}

function foldFacts(facts: LogState['facts'], event: unknown): LogState['facts'] {
  return isPlainObject(event) ? factsAfter(facts, event) : facts;
}

function turnBase(record: FoldedRecord): number {
  const event = record.readEvent();
  const base = isPlainObject(event) ? wholeNumber(event['turn_base']) : 0;
  return Math.max(base, 1);
}

/**
 * Turns that a recovery found missing at the end of the log had numbers, and these are not given again: the
 * record that reports the loss says with which number turns go on.
 */
function turnsLostBefore(record: FoldedRecord): number {
  const event = record.readEvent();
  if (!isPlainObject(event) || event['reason'] !== 'tail_lost') return 0;
  return Math.max(wholeNumber(event['turn_base']) - 1, 0);
}

function wholeNumber(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
