import { sha256Text } from '@turnlog/kernel';
import { withoutMarkDigits } from './marks.js';
import { canonicalText, type StoredValue, storedMember, storedString } from './stored-value.js';

/**
 * A fixture on disk:
 *
 *   fixture.json            what it is, written last
 *   events.jsonl            records, bytes verbatim
 *   exchanges.jsonl         one exchange a line, in order of start
 *   assets/<aa>/<sha256>    blobs that either names
 *   SHA256SUMS              every file but itself, sorted by bytes
 */
export const fixtureNames = {
  description: 'fixture.json',
  events: 'events.jsonl',
  exchanges: 'exchanges.jsonl',
  assets: 'assets',
  sums: 'SHA256SUMS',
} as const;

/** The version that is written; a reader takes every older one and refuses newer ones. */
export const fixtureVersion = 1;

export type Outcome = 'ok' | 'error' | 'timeout' | 'cancelled' | 'unfinished';

export const outcomes: readonly Outcome[] = ['ok', 'error', 'timeout', 'cancelled', 'unfinished'];

export interface RecordedError {
  readonly name: string;
  readonly message: string;
  readonly code: string | number | null;
}

/** One recorded request and its outcome. */
export interface Exchange {
  readonly n: number;
  readonly port: string;
  readonly kind: 'call' | 'stream';
  readonly key: string;
  readonly request: StoredValue;
  readonly outcome: Outcome;
  /** Null where nothing came. */
  readonly response: StoredValue | null;
  readonly error: RecordedError | null;
  /** Milliseconds since the start, and what came. */
  readonly chunks: readonly (readonly [ms: number, delta: string])[] | null;
  /** The records it belongs to; null where there are none. */
  readonly startSeq: number | null;
  readonly endSeq: number | null;
  /** Milliseconds from the start of the fixture's clock; null when unknown. */
  readonly startMs: number | null;
  readonly durationMs: number;
  /** Number of the group of exchanges that overlapped; 0 for one that stood alone. */
  readonly parallel: number;
  /** Its place in the order of completion, from 1. */
  readonly end: number;
  /** Made from records that do not hold the request: any request to its port is this one. */
  readonly isDerived: boolean;
}

export type GapReason =
  | 'no-outcome'
  | 'interrupted'
  | 'damage'
  | 'redacted'
  | 'dropped'
  | 'asset-missing'
  | 'asset-withheld';

/** Something of the session that the fixture cannot play. */
export interface Gap {
  readonly reason: GapReason;
  readonly seq: number | null;
  readonly exchange: number | null;
  readonly turn: number | null;
}

/** Which request members of a port make its key. */
export type MatchRules = Readonly<Record<string, readonly string[]>>;

export interface FixtureSource {
  readonly session: string;
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Root and size of the hash tree of the whole session when the fixture was made. */
  readonly root: string;
  readonly size: number;
  /** Number of the first turn that the events hold. */
  readonly firstTurn: number;
}

export interface FixtureDescription {
  readonly schemaVersion: number;
  readonly name: string;
  readonly source: FixtureSource;
  readonly contract: string;
  readonly producer: { readonly name: string; readonly version: string };
  readonly clock: { readonly start: string; readonly mode: ClockMode };
  readonly ids: { readonly mode: IdMode; readonly seed: string };
  readonly ports: readonly string[];
  readonly match: MatchRules;
  readonly ignore: readonly string[];
  readonly redaction: { readonly applied: boolean; readonly policy: string; readonly changed: number };
  readonly counts: { readonly records: number; readonly turns: number; readonly exchanges: number };
  readonly complete: boolean;
  readonly gaps: readonly Gap[];
}

export type ClockMode = 'recorded' | 'fixed' | 'manual';
export type IdMode = 'recorded' | 'seeded';

export const defaultMatch: MatchRules = {
  model: ['model', 'messages', 'tools'],
  tool: ['name', 'arguments'],
};
export const defaultIgnore: readonly string[] = ['ts', 'usage.*', 'item.context.timestamp'];

/** The name in a request, as of a tool; null when it has none. */
export function nameOf(request: StoredValue): string | null {
  return storedString(request, 'name');
}

/**
 * What a request is found by: SHA-256 of port, name and the members that its port is matched by, in canonical form. A
 * port without rule is matched by everything.
 */
export function exchangeKey(port: string, request: StoredValue, match: MatchRules): string {
  const wanted = Object.hasOwn(match, port) ? match[port] : undefined;
  const matched = wanted === undefined || request.kind !== 'object' ? request : picked(request, wanted);
  const parts: StoredValue = {
    kind: 'array',
    items: [{ kind: 'string', text: port }, nameValue(request), matched],
  };
  return sha256Text(canonicalText(parts, withoutMarkDigits), 'hex');
}

function nameValue(request: StoredValue): StoredValue {
  const name = nameOf(request);
  return name === null ? { kind: 'literal', text: 'null' } : { kind: 'string', text: name };
}

function picked(request: StoredValue, names: readonly string[]): StoredValue {
  const members = new Map<string, StoredValue>();
  for (const name of names) {
    const member = storedMember(request, name);
    if (member !== undefined) members.set(name, member);
  }
  return { kind: 'object', members };
}
