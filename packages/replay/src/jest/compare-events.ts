import { createNodeFileSystem } from '@turnlog/fs';
import type { LogReader, LogRecord } from '@turnlog/log';
import { passThrough } from '@turnlog/store';
import type { CompareRules } from '../compare.js';
import type { Divergence } from '../divergence.js';
import { DivergenceReport } from '../divergence-report.js';
import { Expectations } from '../expectations.js';
import { defaultIgnore } from '../fixture.js';
import { liveOf, storedOf } from '../live-value.js';
import { Matching } from '../matching.js';
import { readFixture } from '../read-fixture.js';
import { type SourceRecord, sourceOf } from '../source-record.js';
import { readStored, type StoredValue, storedString } from '../stored-value.js';

/** The first place where events are not the expected ones: those of a fixture, or a list. Null when there is none. */
export function compareEvents(
  received: unknown,
  expected: string | readonly { readonly type: string }[],
): Divergence | null {
  const { records, name, ignore } =
    typeof expected === 'string' ? fixtureRecords(expected) : listRecords(expected);
  const rules: CompareRules = { ignore, numbers: 'text' };
  const expectations = new Expectations(records, 'all', rules);
  const report = new DivergenceReport({
    directory: name,
    name,
    records,
    rules,
    // Both sides are the caller's own.
    egress: passThrough,
    matching: new Matching([]),
    expectations,
  });
  for (const event of storedEvents(received)) {
    if (storedString(event, 'type')?.startsWith('log.') === true) continue;
    const judgement = expectations.judge(event, event);
    if (judgement.kind === 'differs') return report.eventDiffers(judgement.record, event);
    if (judgement.kind === 'unexpected') return report.unexpectedEvent(event);
  }
  const missing = expectations.missing();
  return missing === null ? null : report.left(null, missing);
}

/** The events of a list, or of a log that is open for reading. */
export function eventsOf(received: unknown): readonly unknown[] {
  return storedEvents(received).map(liveOf);
}

function storedEvents(received: unknown): readonly StoredValue[] {
  if (Array.isArray(received)) return received.map((event: unknown) => storedOf(event));
  if (!isReader(received)) throw new TypeError('the matcher takes a list of events, or a log');
  return Array.from(received.records(), (record: LogRecord) => readStored(record.eventBytes()));
}

function isReader(value: unknown): value is Pick<LogReader, 'records'> {
  return (
    typeof value === 'object' && value !== null && 'records' in value && typeof value.records === 'function'
  );
}

interface Expected {
  readonly records: readonly SourceRecord[];
  readonly name: string;
  readonly ignore: readonly string[];
}

function fixtureRecords(path: string): Expected {
  const { records, description } = readFixture(createNodeFileSystem(), path);
  return {
    records: records.map((record) => sourceOf(record)),
    name: description.name,
    ignore: description.ignore,
  };
}

function listRecords(events: readonly { readonly type: string }[]): Expected {
  const records = events.map((event, position): SourceRecord => {
    const facts = { turn: null, tsMs: null, line: new Uint8Array(0), isEffective: true, isChanged: false };
    return { ...facts, seq: position + 1, type: event.type, event: storedOf(event) };
  });
  return { records, name: 'the expected events', ignore: defaultIgnore };
}
