import type { AgentKind } from '../chunk.js';
import { ByteReader, ByteWriter } from './byte-codec.js';

/** How far a log has been taken in: the cursor of a follower, which moves only with the chunks that it stands for. */
export interface TakenIn {
  readonly generation: string | null;
  readonly offset: number;
  /** SHA-256 of the last line that was read, without its 0x0A. */
  readonly sha256: string | null;
  readonly seq: number;
  /**
   * Size and root of the hash tree over all records of the log up to there: that tells a log whose records left or
   * were redacted from another one. Null where it is not known.
   */
  readonly tree: { readonly size: number; readonly root: string } | null;
}

/** Before the first record. */
export const nothingTaken: TakenIn = { generation: null, offset: 0, sha256: null, seq: 0, tree: null };

/** Seqs from `from` to `to`, both included. */
export interface SeqSpan {
  readonly from: number;
  readonly to: number;
}

/** What a segment, or the tail, holds of one session. */
export interface LogEntry {
  readonly session: string;
  readonly taken: TakenIn;
  /** Seqs of the records that it was made from, in order, none touching another. */
  readonly spans: readonly SeqSpan[];
  /** Ordinal of its first chunk; those of a segment follow one another. */
  readonly firstOrdinal: number;
  readonly workspaces: readonly string[];
  readonly agent: AgentKind;
  /** Bytes of text that were too far inside of records to be indexed. */
  readonly unindexedBytes: number;
}

const agents: readonly AgentKind[] = ['primary', 'subagent', 'headless'];

/** Pauses now and then: a store may have very many sessions. */
export function* encodeLogs(logs: readonly LogEntry[]): Generator<void, Uint8Array, void> {
  const out = new ByteWriter();
  out.number(logs.length);
  for (const [at, entry] of logs.entries()) {
    if (at % sliceLogs === sliceLogs - 1) yield;
    encodeLog(out, entry);
  }
  return out.written();
}

/** How many logs are written or read before the work may pause. */
const sliceLogs = 256;

function encodeLog(out: ByteWriter, entry: LogEntry): void {
  const { session, taken, spans, firstOrdinal, workspaces, agent, unindexedBytes } = entry;
  out.text(session);
  out.optionalText(taken.generation);
  out.number(taken.offset);
  out.optionalText(taken.sha256);
  out.number(taken.seq);
  out.number(taken.tree?.size ?? 0);
  out.optionalText(taken.tree?.root ?? null);
  out.number(spans.length);
  for (const { from, to } of spans) {
    out.number(from);
    out.number(to);
  }
  out.number(firstOrdinal);
  out.number(workspaces.length);
  for (const workspace of workspaces) out.text(workspace);
  out.number(agents.indexOf(agent));
  out.number(unindexedBytes);
}

/** Pauses as `encodeLogs` does. */
export function* decodeLogs(bytes: Uint8Array, path: string): Generator<void, readonly LogEntry[], void> {
  const input = new ByteReader(bytes, path);
  const logs: LogEntry[] = [];
  for (let left = input.number(); left > 0; left -= 1) {
    if (left % sliceLogs === 0) yield;
    logs.push(decodeLog(input));
  }
  return logs;
}

function decodeLog(input: ByteReader): LogEntry {
  return {
    session: input.text(),
    taken: {
      generation: input.optionalText(),
      offset: input.number(),
      sha256: input.optionalText(),
      seq: input.number(),
      tree: treeFrom(input.number(), input.optionalText()),
    },
    spans: times(input.number(), () => ({ from: input.number(), to: input.number() })),
    firstOrdinal: input.number(),
    workspaces: times(input.number(), () => input.text()),
    agent: agents[input.number()] ?? 'primary',
    unindexedBytes: input.number(),
  };
}

function treeFrom(size: number, root: string | null): TakenIn['tree'] {
  return root === null ? null : { size, root };
}

function times<Value>(count: number, make: () => Value): readonly Value[] {
  const values: Value[] = [];
  for (let at = 0; at < count; at += 1) values.push(make());
  return values;
}

/** Spans that cover the same seqs, in order, those that touch made one. */
export function uniteSpans(spans: readonly SeqSpan[]): readonly SeqSpan[] {
  const united: SeqSpan[] = [];
  for (const span of [...spans].sort((left, right) => left.from - right.from)) {
    const before = united.at(-1);
    if (before !== undefined && span.from <= before.to + 1) {
      united[united.length - 1] = { from: before.from, to: Math.max(before.to, span.to) };
    } else {
      united.push(span);
    }
  }
  return united;
}

/** The seqs of `[from, to]` that no span covers. */
export function gapsIn(spans: readonly SeqSpan[], from: number, to: number): readonly SeqSpan[] {
  const gaps: SeqSpan[] = [];
  let next = from;
  for (const span of uniteSpans(spans)) {
    if (span.from > to) break;
    if (span.from > next) gaps.push({ from: next, to: span.from - 1 });
    next = Math.max(next, span.to + 1);
  }
  if (next <= to) gaps.push({ from: next, to });
  return gaps;
}
