import { openEventStream } from '../src/index.js';
import { fold, linesOf, plainOptions, textOf, typesOf } from './stream-lines.js';

const encoder = new TextEncoder();

test('own lines give their events as they were written, with their keys', () => {
  const folded = fold(
    encoder.encode(
      '{"schema_version":"0.18.0","seq":9,"ts":"2026-10-05T08:30:00.125Z","key":"k-1","event":{"n":1.0, "type":"x.a.b"}}\n' +
        '\n{"event":{"type":"turn.started"}}{"event":{"type":"error","message":"m"},"key":null}\r\n',
    ),
  );
  expect(folded.events.map(({ event, key }) => [textOf(event), key])).toEqual([
    ['{"n":1.0, "type":"x.a.b"}', 'k-1'],
    ['{"type":"turn.started"}', undefined],
    ['{"type":"error","message":"m"}', undefined],
  ]);
  expect(folded).toMatchObject({ refused: [], outcome: 'complete' });
  expect(folded.stream.kind).toBe('events');
});

test('own input that ends inside a turn leaves it open', () => {
  const folded = fold(linesOf({ event: { type: 'turn.started' } }));
  expect([folded.outcome, typesOf(folded.events)]).toEqual(['complete', ['turn.started']]);
});

test('bare events are taken when they were asked for by name, and only then', () => {
  const bare = linesOf({ type: 'turn.started' }, { type: 'x.a.b', event: { type: 'inner' } });
  expect(typesOf(fold(bare, { ...plainOptions, from: 'events' }).events)).toEqual(['turn.started', 'x.a.b']);
  expect(fold(bare).stream.kind).toBe('codex-exec');
});

const refusals: readonly (readonly [line: string, reason: string])[] = [
  ['half a {"line', 'bad-json'],
  ['[]', 'not-a-record'],
  ['{"event":{"no":"type"}}', 'not-a-record'],
  ['{"event":{"type":"log.evicted"}}', 'reserved-record'],
  ['{"event":{"type":"journal.begin","frame":"f","fence":null,"kind":"plan"}}', 'reserved-record'],
  ['{"event":{"type":"turn.failed"}}', 'invalid-event'],
  ['{"event":{"type":"x.a.b"},"key":""}', 'invalid-event'],
  ['{"event":{"type":"x.a.b"},"key":7}', 'invalid-event'],
  [`{"event":{"type":"x.a.b","v":${'['.repeat(101)}${']'.repeat(101)}}}`, 'too-deep'],
];

test.each(refusals)('%s is refused and its neighbours are not', (line, reason) => {
  const text = `{"event":{"type":"x.a.b"}}\n${line}\n{"event":{"type":"x.a.c"}}\n`;
  const { events, refused, stream } = fold(encoder.encode(text));
  expect(typesOf(events)).toEqual(['x.a.b', 'x.a.c']);
  expect(refused).toEqual([
    { line: 2, reason, offset: 27, length: line.length, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
  expect(stream.ledger).toMatchObject({ bytes: text.length, refused: line.length, framing: 3 });
});

test('a line that no 0x0A ends is taken when it is whole and a torn tail when it is not', () => {
  expect(typesOf(fold(encoder.encode('{"event":{"type":"x.a.b"}}')).events)).toEqual(['x.a.b']);
  const torn = fold(encoder.encode('{"event":{"type":"x.a.b"}}\n{"event":{"ty'));
  expect(torn.refused).toMatchObject([{ line: 2, reason: 'torn-tail', length: 13 }]);
  expect(torn.stream.ledger.bytes).toBe(40);
});

test('a line that is too long is counted, and the next one is in its place', () => {
  const stream = openEventStream(plainOptions);
  expect(stream.skip(70_000_000).refused).toMatchObject([
    { line: 1, reason: 'too-long', length: 70_000_000 },
  ]);
  const next = stream.push(encoder.encode('{'));
  expect(next.refused).toMatchObject([{ line: 2, offset: 70_000_001, reason: 'bad-json' }]);
  expect(stream.ledger.bytes).toBe(70_000_003);
});

const unfitting: readonly (readonly [
  from: 'auto' | 'events' | 'codex-exec' | 'claude-stream',
  line: string,
])[] = [
  ['auto', '{"hello":1}'],
  ['auto', '{"type":"user","sessionId":"s"}'],
  ['events', '{"hello":1}'],
  ['codex-exec', '{"event":{"type":"turn.started"}}'],
  ['codex-exec', '{"type":"system","subtype":"init","session_id":"s"}'],
  ['claude-stream', '{"type":"turn.started"}'],
];

test.each(unfitting)('--from %s refuses a stream that begins with %s', (from, line) => {
  const stream = openEventStream({ ...plainOptions, from });
  expect(stream.push(encoder.encode('no JSON at all')).refused).toHaveLength(1);
  expect(() => stream.push(encoder.encode(line))).toThrow(
    expect.objectContaining({ code: 'TURNLOG_UNKNOWN_SOURCE' }),
  );
});

test('own input without an id gets one of the day and of its first event', () => {
  const now = Date.UTC(2026, 9, 5, 23, 59);
  const line = linesOf({ event: { type: 'turn.started' } });
  const { sessionId } = fold(line, { from: 'auto', now: () => now });
  expect(sessionId).toMatch(/^20261005-[0-9a-f]{8}$/);
  expect(fold(line, { from: 'auto', now: () => now + 1 }).sessionId).not.toBe(sessionId);
});

test('a stream without a single object is complete and of no kind', () => {
  const folded = fold(encoder.encode('nothing here\n'));
  expect([folded.outcome, folded.stream.kind, folded.events]).toEqual(['complete', 'auto', []]);
});
