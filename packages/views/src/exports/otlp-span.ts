import { sha256Hex } from '@turnlog/kernel';
import { type DocumentObject, documentJson } from './stored-json.js';

/** Ids are derived from what they stand for, so the same log always gives the same ones. */
export function traceId(session: string): string {
  return sha256Hex(new TextEncoder().encode(`turnlog/trace/${session}`)).slice(0, 32);
}

export function spanId(session: string, seq: number): string {
  return sha256Hex(new TextEncoder().encode(`turnlog/span/${session}/${seq}`)).slice(0, 16);
}

export type AttributeValue = string | number | bigint | boolean | null | undefined;

/** What is null or undefined has no attribute; whole numbers are texts, as 64-bit integers are in OTLP/JSON. */
export function attributes(values: Readonly<Record<string, AttributeValue>>): readonly DocumentObject[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: valueJson(value) }],
  );
}

const int64Max = 9_223_372_036_854_775_807n;

function valueJson(value: string | number | bigint | boolean): DocumentObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number' && !Number.isInteger(value)) return { doubleValue: value };
  const whole = BigInt(value);
  return { intValue: (whole > int64Max ? int64Max : whole).toString() };
}

export interface Span {
  readonly session: string;
  readonly seq: number;
  readonly parentSeq: number | null;
  readonly name: string;
  /** 1 is internal, 3 a client. */
  readonly kind: 1 | 3;
  /** Null when no record of the log has a time. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly values: Readonly<Record<string, AttributeValue>>;
  /** Why it failed; null when it did not. */
  readonly error: string | null;
  readonly links: readonly DocumentObject[];
}

export function spanJson(span: Span): string {
  const { session, seq, parentSeq, name, kind, startMs, endMs, values, error, links } = span;
  return documentJson({
    traceId: traceId(session),
    spanId: spanId(session, seq),
    parentSpanId: parentSeq === null ? undefined : spanId(session, parentSeq),
    name,
    kind,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(startMs !== null && endMs !== null ? Math.max(startMs, endMs) : startMs),
    attributes: attributes(values),
    links: links.length === 0 ? undefined : links,
    status: error === null ? undefined : { code: 2, message: error },
  });
}

function nanoseconds(ms: number | null): string {
  return ms === null ? '0' : (BigInt(ms) * 1_000_000n).toString();
}
