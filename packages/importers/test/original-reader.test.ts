import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeRecord, encodeRawEvent, encodeRecord, knownEventNames } from '@turnlog/events';
import type { FileSystem } from '@turnlog/kernel';
import { type LogRecord, openLogReader, openOwnedLog } from '@turnlog/log';
import { completeEnvironment } from '@turnlog/store';
import { makeTemporaryDirectory } from '@turnlog/testkit';
import { importVtcode } from '../src/index.js';
import { events, readOriginally } from './original-reader.js';

const repoRoot = join(__dirname, '..', '..', '..');
const goldenLines = readFileSync(join(repoRoot, 'test', 'golden', 'wire', 'golden.jsonl'), 'utf8')
  .split('\n')
  .filter(Boolean);

/** The texts of the golden events; those that only the engine writes are left to it. */
const goldenEvents = goldenLines.map((line) => {
  const bytes = new TextEncoder().encode(line);
  const { event } = decodeRecord(bytes, 0, bytes.length);
  return { type: event.type, text: JSON.stringify(event) };
});

function bytesIn(fs: FileSystem, path: string): Uint8Array {
  const file = fs.open(path, 'read');
  const bytes = new Uint8Array(file.status().size);
  file.read(bytes, 0);
  file.close();
  return bytes;
}

function writeTo(fs: FileSystem, path: string, bytes: Uint8Array): void {
  if (fs.status(path) !== null) fs.removeFile(path);
  const file = fs.open(path, 'create');
  file.write(bytes);
  file.close();
}

function isContract(type: string): boolean {
  return events[type] !== undefined;
}

/** What the other program makes of a record: null where the contract does not have its item type or value. */
function expectedOf(record: LogRecord): string | null {
  const text = new TextDecoder().decode(record.eventBytes());
  if (text.includes('"hologram"') || text.includes('"perhaps"')) return null;
  return isContract(record.type) ? record.type : 'unknown';
}

test('T-99 a reader in the manner of VT Code decodes all contract lines of our log, and what the table says of the rest holds', async () => {
  const temporary = makeTemporaryDirectory();
  const environment = completeEnvironment();
  const { fs } = environment;
  const directory = join(temporary.path, 's-1');
  const log = await openOwnedLog(environment, directory, 's-1');
  for (const [at, { type, text }] of goldenEvents.entries()) {
    if (!type.startsWith('log.')) log.append({ raw: text }, { key: `k-${at}` });
  }
  log.append({ raw: '{"type":"turn.started"}' });
  log.append({ raw: '{"type":"user.message","id":"u","origin":"prompt","content":[]}' });
  log.append({ raw: '{"type":"permission.resolved","tool_name":"t","decision":"perhaps","wait_ms":1}' });
  log.append({
    raw: '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}',
  });

  // The lock of a writer is a directory: a program that opens a file of that name cannot.
  expect(fs.status(join(directory, 'session.lock'))?.kind).toBe('directory');
  expect(() => fs.open(join(directory, 'session.lock'), 'append')).toThrow();
  await log.close();

  const bytes = bytesIn(fs, join(directory, 'events.jsonl'));
  const reader = openLogReader(fs, directory, 's-1');
  const records = [...reader.records()];
  const ours = [...reader.turns()];
  reader.close();
  const original = readOriginally(bytes);

  // Extra envelope keys are ignored: every record counts, and every contract line decodes as what it is, but for
  // the item type and the value that the contract does not have.
  expect(original.counted).toBe(records.length);
  expect(original.decoded).toEqual(records.map(expectedOf));
  const decodedTypes = new Set(original.decoded);
  for (const name of knownEventNames.filter(isContract)) expect(decodedTypes).toContain(name);

  // Our own events are unknown to it, are counted and extend an open turn; its turns are ours.
  expect(original.turns.map(({ turn, records: count }) => [turn, count])).toEqual(
    ours.map(({ turn, events: count }) => [turn, count]),
  );
  expect(original.decoded[records.length - 3]).toBe('unknown');

  // Its summary list reads our manifest: names and types are its own.
  const manifest = JSON.parse(
    new TextDecoder().decode(bytesIn(fs, join(directory, 'manifest.json'))),
  ) as Record<string, unknown>;
  expect(['session_id', 'created_at', 'updated_at', 'status'].map((name) => typeof manifest[name])).toEqual([
    'string',
    'string',
    'string',
    'string',
  ]);
  expect(
    ['schema_version', 'turn_count', 'event_count', 'persisted_file_len', 'retained_turn_base'].map((name) =>
      Number.isInteger(manifest[name]),
    ),
  ).toEqual([true, true, true, true, true]);
  expect(typeof manifest['in_turn']).toBe('boolean');

  // A redacted boundary is lost to it, not to us.
  const last = records.at(-1);
  const redacted = encodeRecord(
    { seq: last?.seq ?? 1, ts: last?.ts ?? null },
    encodeRawEvent(
      JSON.stringify({
        type: 'log.redacted',
        leaf: '0'.repeat(64),
        original_type: 'turn.completed',
        length: 9,
        redacted_at: 'x',
      }),
    ),
  );
  const changed = Buffer.concat([bytes.subarray(0, last?.offset), redacted]);
  const redactedDirectory = join(temporary.path, 's-2');
  fs.makeDirectory(redactedDirectory);
  writeTo(fs, join(redactedDirectory, 'events.jsonl'), changed);
  const redactedReader = openLogReader(fs, redactedDirectory, 's-2');
  expect([...redactedReader.turns()].at(-1)?.status).toBe('completed');
  redactedReader.close();
  expect(readOriginally(changed).turns.at(-1)?.isClosed).toBe(false);

  // It rescans and leaves an index and a manifest of its own: we then scan once.
  writeTo(fs, join(directory, 'index', 'turns.json'), new TextEncoder().encode('{"entries":[]}'));
  delete manifest['turnlog'];
  writeTo(fs, join(directory, 'manifest.json'), new TextEncoder().encode(JSON.stringify(manifest)));
  const scans: string[] = [];
  for (let round = 0; round < 2; round += 1) {
    const reopened = await openOwnedLog(environment, directory, 's-1');
    scans.push(reopened.report.scan);
    await reopened.close();
  }
  expect(scans).toEqual(['full', 'none']);
  expect(bytesIn(fs, join(directory, 'events.jsonl'))).toEqual(bytes);

  // Its own cap cuts whole turns off the front: found as a prefix that is missing.
  const cutDirectory = join(temporary.path, 's-3');
  fs.makeDirectory(cutDirectory);
  writeTo(fs, join(cutDirectory, 'events.jsonl'), bytes.subarray(ours[1]?.start));
  const cut = openLogReader(fs, cutDirectory, 's-3');
  expect(cut.state.isPrefixMissing).toBe(true);
  cut.close();

  // A turn that begins twice, and a thread that ends inside a turn: it numbers differently.
  const twice = await openOwnedLog(environment, join(temporary.path, 's-4'), 's-4');
  for (const type of ['turn.started', 'turn.started']) twice.append({ type });
  twice.append({ raw: goldenEvents.find(({ type }) => type === 'thread.completed')?.text ?? '' });
  expect(twice.state.lifecycle).toMatchObject({ turnCount: 2, open: null, status: 'completed' });
  await twice.close();
  const differently = readOriginally(bytesIn(fs, join(temporary.path, 's-4', 'events.jsonl')));
  expect(differently.turns).toEqual([{ turn: 1, records: 2, isClosed: false }]);
  temporary.remove();
});

test('an import on a real disk leaves private files and nothing of its own', async () => {
  const temporary = makeTemporaryDirectory();
  const environment = completeEnvironment();
  const { fs } = environment;
  const source = join(temporary.path, 'log.jsonl');
  const text = goldenEvents
    .filter(({ type }) => !type.startsWith('log.'))
    .map(({ text: event }) => `{"schema_version":"0.18.0","event":${event}}\n`);
  writeTo(fs, source, new TextEncoder().encode(text.join('')));
  const sessionsDirectory = join(temporary.path, 'sessions');
  const report = await importVtcode({ environment, sessionsDirectory }, source);
  expect(fs.list(sessionsDirectory).map(({ name }) => name)).toEqual([report.sessionId]);
  const session = join(sessionsDirectory, String(report.sessionId));
  expect(fs.list(session).map(({ name }) => name)).toEqual(['events.jsonl', 'index', 'manifest.json']);
  expect(fs.list(join(session, 'index')).map(({ name }) => name)).toEqual(['turns.jsonl']);
  expect(fs.status(session)?.mode).toBe(0o700);
  expect(fs.status(join(session, 'events.jsonl'))?.mode).toBe(0o600);
  const log = await openOwnedLog(environment, session, String(report.sessionId));
  expect(log.report).toMatchObject({ scan: 'none', damage: [], recovered: [] });
  await log.close();
  temporary.remove();
});
