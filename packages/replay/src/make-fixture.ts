import { formatTimestamp, schemaVersion } from '@turnlog/events';
import { isTurnlogError, TurnlogError } from '@turnlog/kernel';
import type { LogReader, LogRecord } from '@turnlog/log';
import type { AssetStore, Egress } from '@turnlog/store';
import {
  defaultIgnore,
  defaultMatch,
  type FixtureDescription,
  type FixtureSource,
  fixtureVersion,
  type Gap,
} from './fixture.js';
import { namedAssets } from './named-assets.js';
import { numberExchanges } from './number-exchanges.js';
import { RecordedCalls } from './recorded-calls.js';
import { redactRecords, type SourceRecord } from './source-record.js';
import { storedString } from './stored-value.js';
import type { FixtureAsset, FixtureContent } from './write-fixture.js';

export interface MakeOptions {
  readonly name: string;
  readonly producer: FixtureDescription['producer'];
  readonly egress: Egress;
  /** Closed turns a to b; by default the whole session. */
  readonly turns?: { readonly from: number; readonly to: number };
  /** The blobs of the store; what they lack is a gap. */
  readonly assets?: AssetStore;
  /** `refuse`: a session with gaps makes no fixture. */
  readonly gaps?: 'list' | 'refuse';
}

/**
 * What a fixture of the session holds; the reader must have been opened with `tree: 'hashed'`.
 *
 * @throws TURNLOG_TURN_NOT_FOUND, TURNLOG_GONE; TURNLOG_REPLAY_MISS when there are gaps and they are refused.
 */
export function makeFixture(reader: LogReader, options: MakeOptions): FixtureContent {
  const records = redactRecords([...recordsOf(reader, options)], options.egress);
  const calls = new RecordedCalls();
  for (const record of records) if (record.isEffective) calls.add(record);
  const startMs = records.find(({ tsMs }) => tsMs !== null)?.tsMs ?? 0;
  const exchanges = numberExchanges(calls.list(), defaultMatch, startMs);
  const blobs = blobsOf(records, options);
  const unfinished = exchanges.filter(({ outcome }) => outcome === 'unfinished');
  const gaps: readonly Gap[] = [
    ...gapsOfRecords(records),
    ...gapsOfDamage(reader, records, options),
    ...unfinished.map(({ n, startSeq }) => gap('no-outcome', { seq: startSeq, exchange: n })),
    ...blobs.gaps,
  ];
  refuseGaps(options, gaps);
  const description: FixtureDescription = {
    schemaVersion: fixtureVersion,
    name: options.name,
    source: sourceOfReader(reader, records),
    contract: schemaVersion,
    producer: options.producer,
    clock: { start: formatTimestamp(startMs), mode: 'recorded' },
    ids: { mode: 'recorded', seed: options.name },
    ports: ['model', 'tool'],
    match: defaultMatch,
    ignore: defaultIgnore,
    redaction: {
      applied: options.egress.type === 'redactor',
      policy: options.egress.type === 'redactor' ? 'default' : 'none',
      changed: records.filter(({ isChanged }) => isChanged).length,
    },
    counts: { records: records.length, turns: turnsIn(records).size, exchanges: exchanges.length },
    complete: gaps.length === 0,
    gaps,
  };
  return { description, events: linesOf(records), exchanges, assets: blobs.assets };
}

function* recordsOf(reader: LogReader, { turns }: MakeOptions): Iterable<LogRecord> {
  if (turns === undefined) {
    yield* reader.history();
    return;
  }
  const open = reader.state.lifecycle.open?.turn;
  if (open !== undefined && turns.to >= open) {
    throw new TurnlogError('TURNLOG_TURN_NOT_FOUND', {
      details: { sessionId: reader.sessionId, turn: open },
      message: `turn ${open} is still open`,
    });
  }
  for (let turn = turns.from; turn <= turns.to; turn += 1) yield* reader.readTurn(turn, { archived: true });
}

/** Lines with the 0x0A that ends each. */
export function* linesOf(records: readonly SourceRecord[]): Iterable<Uint8Array> {
  const end = Buffer.from('\n');
  for (const { line } of records) {
    yield line;
    yield end;
  }
}

function sourceOfReader(reader: LogReader, records: readonly SourceRecord[]): FixtureSource {
  const { tree } = reader;
  const first = records.find(({ type }) => type !== 'log.evicted');
  const turns = [...turnsIn(records)];
  return {
    session: reader.sessionId,
    fromSeq: first?.seq ?? 0,
    toSeq: records.at(-1)?.seq ?? 0,
    root: tree?.root ?? '',
    size: tree?.size ?? 0,
    firstTurn: turns[0] ?? reader.state.lifecycle.turnCount + 1,
  };
}

export function turnsIn(records: readonly SourceRecord[]): ReadonlySet<number> {
  const turns = new Set<number>();
  for (const { turn } of records) if (turn !== null) turns.add(turn);
  return turns;
}

function gap(reason: Gap['reason'], place: Partial<Omit<Gap, 'reason'>>): Gap {
  return { reason, seq: null, exchange: null, turn: null, ...place };
}

const closingTypes: ReadonlySet<string> = new Set(['turn.completed', 'turn.failed']);

function gapsOfRecords(records: readonly SourceRecord[]): readonly Gap[] {
  const gaps: Gap[] = [];
  const unclosed = new Set(turnsIn(records));
  records.forEach((record, position) => {
    const { type, seq, turn, event } = record;
    if (position === 0 && type === 'log.evicted') gaps.push(gap('dropped', { seq }));
    if (type === 'log.redacted') gaps.push(gap('redacted', { seq }));
    const original = type === 'log.redacted' ? storedString(event, 'original_type') : type;
    if (turn !== null && closingTypes.has(original ?? '')) unclosed.delete(turn);
  });
  return [...gaps, ...[...unclosed].map((turn) => gap('interrupted', { turn }))];
}

/** Damage of the file that lies among the records that were taken. */
function gapsOfDamage(
  reader: LogReader,
  records: readonly SourceRecord[],
  { turns }: MakeOptions,
): readonly Gap[] {
  const reports = reader.damage();
  if (reports.length === 0) return [];
  const spans = [...reader.turns()];
  const from = turns === undefined ? 0 : (spans.find(({ turn }) => turn >= turns.from)?.start ?? 0);
  const last = spans.findLast(({ turn }) => turns !== undefined && turn <= turns.to);
  const to = last?.end ?? reader.length;
  const inside = reports.filter(({ offset }) => offset >= from && offset < to);
  const seqs = new Set(records.map(({ seq }) => seq));
  return inside.map(({ offset }) => {
    const seq = reader.firstSeqFrom(offset);
    return gap('damage', { seq: seq !== null && seqs.has(seq) ? seq : null });
  });
}

interface Blobs {
  readonly assets: readonly FixtureAsset[];
  readonly gaps: readonly Gap[];
}

/** The blobs that records name. One that holds a secret stays where it is: with other bytes its name would be wrong. */
function blobsOf(records: readonly SourceRecord[], { assets, egress }: MakeOptions): Blobs {
  const kept: FixtureAsset[] = [];
  const gaps: Gap[] = [];
  for (const sha256 of namedAssets(records.map(({ event }) => event))) {
    const bytes = readBlob(assets, sha256);
    if (bytes === null) gaps.push(gap('asset-missing', {}));
    else if (egress.jsonBytes(bytes).changed) gaps.push(gap('asset-withheld', {}));
    else kept.push({ sha256, pieces: readAgain(assets, sha256) });
  }
  return { assets: kept, gaps };
}

/** Only one blob is in memory at a time, so each is read once more when it is written. */
function* readAgain(assets: AssetStore | undefined, sha256: string): Iterable<Uint8Array> {
  const bytes = readBlob(assets, sha256);
  if (bytes !== null) yield bytes;
}

function readBlob(assets: AssetStore | undefined, sha256: string): Uint8Array | null {
  try {
    return assets?.read(sha256) ?? null;
  } catch (error) {
    if (isTurnlogError(error, 'TURNLOG_ASSET_MISSING')) return null;
    throw error;
  }
}

function refuseGaps({ name, gaps = 'list' }: MakeOptions, found: readonly Gap[]): void {
  if (gaps === 'list' || found.length === 0) return;
  throw new TurnlogError('TURNLOG_REPLAY_MISS', {
    details: { fixture: name, gaps: found },
    message: `the session has ${found.length} gaps, so ${name} would not be complete`,
  });
}
