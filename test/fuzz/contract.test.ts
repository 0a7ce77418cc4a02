import {
  checkKey,
  decodeRecord,
  encodeRawEvent,
  encodeRecord,
  inspectRecord,
  parseEvent,
  parseTimestamp,
  peekRecord,
} from '@turnlog/events';
import { limits, TurnlogError } from '@turnlog/kernel';
import { canary, fuzz, orRefused } from './fuzzing.js';
import { changedLog, corpusFiles, wireLogs } from './inputs.js';

const sources = [...wireLogs(), ...corpusFiles()];

/** The lines of changed bytes, and all of them as one. */
function linesIn(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [bytes];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0x0a, from);
    const to = end === -1 ? bytes.length : end;
    lines.push(bytes.subarray(from, to));
    from = to + 1;
  }
  return lines;
}

fuzz('contract: peek, decode and inspect agree about any line', 3_000, (random, tell) => {
  const bytes = changedLog(sources, random);
  tell(bytes);
  for (const line of linesIn(bytes)) {
    const before = Buffer.from(line);
    const peeked = peekRecord(line, 0, line.length);
    const decoded = orRefused(() => decodeRecord(line, 0, line.length));
    expect(line.equals(before)).toBe(true);
    if (typeof peeked === 'string') {
      expect(decoded).toBeNull();
      continue;
    }
    expect(inspectRecord(line, 0, line.length, true).flags).toBeDefined();
    if (decoded === null) {
      // A record that is nested too deep is one all the same, and only its values are not built.
      expect(() => decodeRecord(line, 0, line.length)).toThrow(TurnlogError);
      continue;
    }
    expect({
      type: decoded.event.type,
      seq: decoded.seq,
      ts: decoded.ts,
      key: decoded.key,
      version: decoded.schemaVersion,
    }).toEqual({
      type: peeked.type,
      seq: peeked.statedSeq,
      ts: peeked.ts,
      key: peeked.key,
      version: peeked.schemaVersion,
    });
    const event = parseEvent(line, peeked.eventStart, peeked.eventEnd);
    expect(event).toEqual(decoded.event);
    if (decoded.ts !== null) parseTimestamp(decoded.ts);
  }
});

/** The text where it may be a key, and a plain key otherwise. */
function keyOf(text: string): string {
  const isRefused = orRefused(() => [checkKey(text)]) === null;
  return isRefused ? 'k' : text;
}

/** Stores one text as an event, where it is taken, and reads it back. */
function storeAndRead(raw: string, key: string): void {
  const event = orRefused(() => encodeRawEvent(raw));
  if (event === null) return;
  const stored = orRefused(() => encodeRecord({ seq: 7, ts: '2026-10-05T08:00:00.000Z', key }, event));
  if (stored === null) return;
  const end = stored.length - 1;
  expect(stored.indexOf(0x0a)).toBe(end);
  expect(end).toBeLessThanOrEqual(limits.writerLineBytesMax);
  const found = decodeRecord(stored, 0, end);
  expect([found.seq, found.key, found.event.type]).toEqual([7, key, event.type]);
  const peeked = peekRecord(stored, 0, end);
  if (typeof peeked === 'string') throw new Error(`what was encoded is ${peeked}`);
  // A line feed between two tokens is a blank like any other, and would end the line.
  const given = raw.trim().replaceAll('\n', ' ');
  expect(Buffer.from(stored.subarray(peeked.eventStart, peeked.eventEnd)).toString()).toBe(given);
  expect(peeked.kind).toBe(event.kind);
}

fuzz(
  'contract: what is taken for storing is one line that reads back as it was given',
  1_000,
  (random, tell) => {
    const bytes = changedLog(sources, random);
    tell(bytes);
    for (const line of linesIn(bytes)) {
      const text = line.toString('utf8');
      const key = keyOf(text.slice(0, 4));
      const from = text.indexOf('"event":');
      storeAndRead(text, key);
      if (from !== -1) storeAndRead(text.slice(from + 8, text.lastIndexOf('}')), key);
    }
  },
);

canary('a decoder that reads numbers through a double', 500, (random, tell) => {
  const bytes = changedLog(sources, random);
  tell(bytes);
  for (const line of linesIn(bytes)) {
    const peeked = peekRecord(line, 0, line.length);
    const text = line.toString('utf8');
    if (typeof peeked !== 'string') expect(JSON.stringify(JSON.parse(text))).toBe(text);
  }
});
