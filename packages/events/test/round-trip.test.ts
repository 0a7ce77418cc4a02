import fc from 'fast-check';
import {
  decodeRecord,
  encodeEvent,
  encodeRawEvent,
  encodeRecord,
  inspectRecord,
  peekRecord,
} from '../src/index.js';
import { attemptOutcomes } from '../src/matrix.js';
import { compactionTriggers, planDecisions } from '../src/thread-event.js';
import { harnessKinds, toolOutcomes } from '../src/thread-item.js';
import { goldenBytes, jsonOf, linesOf, utf8 } from './wire-files.js';

const usage = '{"input_tokens":1,"cached_input_tokens":0,"cache_creation_tokens":0,"output_tokens":0}';

function again(event: unknown): unknown {
  const encoded = encodeEvent(event);
  const line = encodeRecord({ seq: 1, ts: null }, encoded);
  expect(inspectRecord(line, 0, line.length - 1, true).flags).toEqual([]);
  return decodeRecord(line, 0, line.length - 1).event;
}

test('C-56 wire names are those of the tables and survive a round trip', () => {
  const boundary = {
    type: 'thread.compact_boundary',
    thread_id: 't',
    trigger: 'auto',
    mode: 'local',
    original_message_count: 1,
    compacted_message_count: 1,
    previous_segment_id: 'a',
    new_segment_id: 'b',
    previous_prefix_hash: 'c',
    new_prefix_hash: 'd',
    previous_catalog_hash: 'e',
    new_catalog_hash: 'f',
  };
  for (const trigger of ['manual', 'auto', 'recovery', 'model_switch', 'unknown']) {
    expect(again({ ...boundary, trigger })).toEqual({ ...boundary, trigger });
  }
  for (const decision of [
    'execute',
    'auto_accept',
    'fresh_context',
    'revise',
    'cancel',
    'switch_build',
    'switch_auto',
    'unknown',
  ]) {
    const event = { type: 'plan.approval.resolved', thread_id: 't', turn_id: 'u', decision, automatic: true };
    expect(again(event)).toEqual(event);
  }
  for (const outcome of [
    'success',
    'error',
    'permission_rejected',
    'permission_cancelled',
    'followup',
    'hook_denied',
    'invalid_tool',
    'cancelled',
  ]) {
    const item = {
      id: 'i',
      type: 'tool_invocation',
      tool_name: 't',
      tool_call_id: 'raw/Call:1',
      status: 'completed',
      outcome,
    };
    expect(again({ type: 'item.completed', item })).toEqual({ type: 'item.completed', item });
  }
  const items = [
    { id: 'h', type: 'harness', event: 'blocked_handoff_resolved' },
    {
      id: 'f',
      type: 'file_change',
      diff_incomplete: true,
      changes: [],
      status: 'completed',
      unified_diff: 'd',
      additions: 1,
      deletions: 0,
    },
    {
      id: 'b',
      type: 'harness',
      event: 'background_subprocess_completed',
      task_id: 'a',
      session_id: 'b',
      exec_session_id: 'c',
      status: 'd',
      transcript_path: 'e',
      archive_path: 'f',
    },
  ];
  for (const item of items)
    expect(again({ type: 'item.updated', item })).toEqual({ type: 'item.updated', item });
  for (const names of [compactionTriggers, planDecisions, toolOutcomes, harnessKinds, attemptOutcomes]) {
    expect(names.filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name))).toEqual([]);
  }
  const running = {
    type: 'turn.completed',
    usage: jsonOf(utf8(usage)),
    in_progress_exec_sessions: ['4', '3', '2', '1'],
  };
  expect(again(running)).toEqual(running);
  expect(() => encodeEvent({ ...running, in_progress_exec_sessions: ['5', '4', '3', '2', '1'] })).toThrow(
    'stored as given',
  );
});

/** Values as JSON has them: minus zero, which C-3 writes as 0, is left out. */
const jsonValues = fc.jsonValue({ maxDepth: 4 }).map((value) => jsonOf<unknown>(utf8(JSON.stringify(value))));
const events = fc.oneof(
  fc.dictionary(fc.string(), jsonValues).map((members) => ({ ...members, type: 'x.n' })),
  fc.record({ message: fc.string(), more: jsonValues }).map((members) => ({ type: 'error', ...members })),
  fc
    .record({ id: fc.string(), text: fc.string({ unit: 'binary' }), provider: jsonValues })
    .map((item) => ({ type: 'item.completed', item: { type: 'reasoning', ...item } })),
  fc
    .record({
      input_tokens: fc.maxSafeNat(),
      cached_input_tokens: fc.nat(),
      cache_creation_tokens: fc.nat(),
      output_tokens: fc.nat(),
    })
    .map((value) => ({ type: 'turn.completed', usage: value })),
);

test('C-55 encode then decode gives the value, and decode then encode the bytes', () => {
  fc.assert(
    fc.property(events, (event) => {
      const line = encodeRecord({ seq: 1, ts: null }, encodeEvent(event));
      const decoded = decodeRecord(line, 0, line.length - 1);
      expect(decoded.event).toEqual(event);
      expect(Buffer.from(encodeRecord({ seq: 1, ts: null }, encodeEvent(decoded.event))).equals(line)).toBe(
        true,
      );
      // Where a double would change a number, the stored text is what is written again.
      const record = peekRecord(line, 0, line.length - 1);
      if (typeof record === 'string') throw new Error(record);
      const stored = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
        line.subarray(record.eventStart, record.eventEnd),
      );
      expect(Buffer.from(encodeRecord({ seq: 1, ts: null }, encodeRawEvent(stored))).equals(line)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('C-55 the lifecycle and the full level agree on record against damage', () => {
  const odd = goldenBytes('odd.jsonl');
  const line = fc.constantFrom(...linesOf(odd)).map(({ start, end }) => odd.slice(start, end));
  const change = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) });
  fc.assert(
    fc.property(line, fc.array(change, { maxLength: 3 }), (bytes, changes) => {
      for (const { at, byte } of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
      const peeked = peekRecord(bytes, 0, bytes.length);
      if (typeof peeked === 'string') {
        expect(() => inspectRecord(bytes, 0, bytes.length, true)).toThrow(
          expect.objectContaining({ code: 'TURNLOG_INVALID_EVENT' }),
        );
        return;
      }
      const { flags } = inspectRecord(bytes, 0, bytes.length, true);
      if (flags.includes('too-deep')) return;
      expect(decodeRecord(bytes, 0, bytes.length).event.type).toBe(peeked.type);
    }),
    { numRuns: 1_000 },
  );
});
