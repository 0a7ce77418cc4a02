import { type FoundMembers, isCount, isSha256Hex, isText, ownMembers, readMembers } from '@turnlog/log';
import {
  type ClockMode,
  type Exchange,
  type FixtureDescription,
  type FixtureSource,
  type Gap,
  type GapReason,
  type IdMode,
  type MatchRules,
  outcomes,
  type RecordedError,
} from './fixture.js';
import {
  readStored,
  type StoredValue,
  storedCount,
  storedMember,
  storedNull,
  storedString,
  storedText,
} from './stored-value.js';

/** The texts of a fixture's own files, both ways. Reading gives null for what is none: the caller names the file. */

export function descriptionText(description: FixtureDescription): string {
  const { source, redaction, gaps } = description;
  return `${JSON.stringify({
    schema_version: description.schemaVersion,
    name: description.name,
    source: {
      session: source.session,
      from_seq: source.fromSeq,
      to_seq: source.toSeq,
      root: source.root,
      size: source.size,
      first_turn: source.firstTurn,
    },
    contract: description.contract,
    producer: description.producer,
    clock: description.clock,
    ids: description.ids,
    ports: description.ports,
    match: description.match,
    ignore: description.ignore,
    redaction,
    counts: description.counts,
    complete: description.complete,
    gaps,
  })}\n`;
}

/** The `schema_version` and name that a description states, whatever else it holds. */
export function statedVersion(text: string): { readonly version: number; readonly name: string } | null {
  const found = readMembers(text);
  if (found === null || !isCount(found['schema_version'])) return null;
  return { version: found['schema_version'], name: isText(found['name']) ? found['name'] : '' };
}

export function parseDescription(text: string): FixtureDescription | null {
  const found = readMembers(text);
  if (found === null) return null;
  const source = sourceIn(ownMembers(found['source']));
  const producer = producerIn(ownMembers(found['producer']));
  const modes = modesIn(found);
  const lists = listsIn(found);
  const counts = countsIn(ownMembers(found['counts']));
  const { schema_version: schemaVersion, name, contract, complete } = found;
  if (source === null || producer === null || modes === null || lists === null || counts === null)
    return null;
  if (!isCount(schemaVersion) || !isText(name) || !isText(contract) || typeof complete !== 'boolean')
    return null;
  return { schemaVersion, name, source, contract, producer, ...modes, ...lists, counts, complete };
}

function sourceIn(found: FoundMembers | null): FixtureSource | null {
  if (found === null) return null;
  const { session, from_seq: fromSeq, to_seq: toSeq, root, size, first_turn: firstTurn = 1 } = found;
  if (!isText(session) || !isCount(fromSeq) || !isCount(toSeq)) return null;
  if (!isSha256Hex(root) || !isCount(size) || !isCount(firstTurn)) return null;
  return { session, fromSeq, toSeq, root, size, firstTurn };
}

function producerIn(found: FoundMembers | null): FixtureDescription['producer'] | null {
  const name = found?.['name'];
  const version = found?.['version'];
  return isText(name) && isText(version) ? { name, version } : null;
}

const clockModes: readonly ClockMode[] = ['recorded', 'fixed', 'manual'];
const idModes: readonly IdMode[] = ['recorded', 'seeded'];

function modesIn(found: FoundMembers): Pick<FixtureDescription, 'clock' | 'ids'> | null {
  const clock = ownMembers(found['clock']);
  const ids = ownMembers(found['ids']);
  const clockMode = clockModes.find((mode) => mode === clock?.['mode']);
  const idMode = idModes.find((mode) => mode === ids?.['mode']);
  const start = clock?.['start'];
  const seed = ids?.['seed'];
  if (clockMode === undefined || idMode === undefined || !isText(start) || !isText(seed)) return null;
  return { clock: { start, mode: clockMode }, ids: { mode: idMode, seed } };
}

function listsIn(
  found: FoundMembers,
): Pick<FixtureDescription, 'ports' | 'match' | 'ignore' | 'redaction' | 'gaps'> | null {
  const ports = textsIn(found['ports']);
  const ignore = textsIn(found['ignore']);
  const match = matchIn(ownMembers(found['match']));
  const redaction = redactionIn(ownMembers(found['redaction']));
  const gaps = gapsIn(found['gaps']);
  if (ports === null || ignore === null || match === null || redaction === null || gaps === null) return null;
  return { ports, match, ignore, redaction, gaps };
}

function textsIn(value: unknown): readonly string[] | null {
  return Array.isArray(value) && value.every(isText) ? value : null;
}

function matchIn(found: FoundMembers | null): MatchRules | null {
  if (found === null) return null;
  const rules: [string, readonly string[]][] = [];
  for (const [port, value] of Object.entries(found)) {
    const names = textsIn(value);
    if (names === null) return null;
    rules.push([port, names]);
  }
  return Object.fromEntries(rules);
}

function redactionIn(found: FoundMembers | null): FixtureDescription['redaction'] | null {
  if (found === null) return null;
  const { applied, policy, changed = 0 } = found;
  return typeof applied === 'boolean' && isText(policy) && isCount(changed)
    ? { applied, policy, changed }
    : null;
}

function countsIn(found: FoundMembers | null): FixtureDescription['counts'] | null {
  if (found === null) return null;
  const { records, turns, exchanges } = found;
  return isCount(records) && isCount(turns) && isCount(exchanges) ? { records, turns, exchanges } : null;
}

const gapReasons: readonly GapReason[] = [
  'no-outcome',
  'interrupted',
  'damage',
  'redacted',
  'dropped',
  'asset-missing',
  'asset-withheld',
];

function gapsIn(value: unknown): readonly Gap[] | null {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return null;
  const gaps: Gap[] = [];
  for (const entry of value) {
    const found = ownMembers(entry);
    const reason = gapReasons.find((known) => known === found?.['reason']);
    if (reason === undefined) return null;
    const count = (name: string): number | null => {
      const member = found?.[name];
      return isCount(member) ? member : null;
    };
    gaps.push({ reason, seq: count('seq'), exchange: count('exchange'), turn: count('turn') });
  }
  return gaps;
}

export function exchangeLine(exchange: Exchange): string {
  const { error, chunks, response } = exchange;
  const optional = [
    ...(response === null ? [] : [`"response":${storedText(response)}`]),
    ...(error === null ? [] : [`"error":${JSON.stringify(error)}`]),
    ...(chunks === null ? [] : [`"chunks":${JSON.stringify(chunks)}`]),
    ...(exchange.isDerived ? ['"derived":true'] : []),
  ];
  const parts = [
    `"n":${exchange.n}`,
    `"port":${JSON.stringify(exchange.port)}`,
    `"kind":"${exchange.kind}"`,
    `"key":"${exchange.key}"`,
    `"request":${storedText(exchange.request)}`,
    `"outcome":"${exchange.outcome}"`,
    ...optional,
    `"start_seq":${exchange.startSeq}`,
    `"end_seq":${exchange.endSeq}`,
    `"start_ms":${exchange.startMs}`,
    `"duration_ms":${exchange.durationMs}`,
    `"parallel":${exchange.parallel}`,
    `"end":${exchange.end}`,
  ];
  return `{${parts.join(',')}}\n`;
}

/** @returns null when the bytes are no exchange. @throws TURNLOG_INVALID_EVENT when they are no JSON text */
export function parseExchange(bytes: Uint8Array, start: number, end: number): Exchange | null {
  const value = readStored(bytes, start, end);
  const n = storedCount(value, 'n');
  const port = storedString(value, 'port');
  const key = storedString(value, 'key');
  const request = storedMember(value, 'request');
  const outcome = outcomes.find((known) => known === storedString(value, 'outcome'));
  const chunks = chunksIn(storedMember(value, 'chunks'));
  const error = errorIn(storedMember(value, 'error'));
  if (n === null || port === null || request === undefined || outcome === undefined) return null;
  if (!isSha256Hex(key) || chunks === undefined || error === undefined) return null;
  return {
    n,
    port,
    key,
    request,
    outcome,
    chunks,
    error,
    kind: storedString(value, 'kind') === 'stream' ? 'stream' : 'call',
    response: storedMember(value, 'response') ?? null,
    startSeq: storedCount(value, 'start_seq'),
    endSeq: storedCount(value, 'end_seq'),
    startMs: storedCount(value, 'start_ms'),
    durationMs: storedCount(value, 'duration_ms') ?? 0,
    parallel: storedCount(value, 'parallel') ?? 0,
    end: storedCount(value, 'end') ?? n,
    isDerived: storedText(storedMember(value, 'derived') ?? storedNull) === 'true',
  };
}

function chunksIn(value: StoredValue | undefined): Exchange['chunks'] | undefined {
  if (value === undefined) return null;
  if (value.kind !== 'array') return undefined;
  const chunks: (readonly [number, string])[] = [];
  for (const entry of value.items) {
    const [ms, delta] = entry.kind === 'array' ? entry.items : [];
    if (ms?.kind !== 'number' || delta?.kind !== 'string') return undefined;
    chunks.push([Number(ms.text), delta.text]);
  }
  return chunks;
}

function errorIn(value: StoredValue | undefined): RecordedError | null | undefined {
  if (value === undefined) return null;
  const name = storedString(value, 'name');
  const message = storedString(value, 'message');
  if (name === null || message === null) return undefined;
  const code = storedMember(value, 'code');
  const shown = code?.kind === 'number' ? Number(code.text) : code?.kind === 'string' ? code.text : null;
  return { name, message, code: shown };
}
