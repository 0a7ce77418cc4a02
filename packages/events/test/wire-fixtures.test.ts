import { createHash } from 'node:crypto';
import { eventRule } from '../src/event-shapes.js';
import {
  decodeRecord,
  encodeEvent,
  encodeRecord,
  inspectRecord,
  judgeLine,
  knownEventNames,
  parseEvent,
} from '../src/index.js';
import { itemRule } from '../src/item-shapes.js';
import { goldenBytes, hasShared, jsonOf, linesOf, readFileOf, sharedBytes } from './wire-files.js';

interface Expectation {
  readonly line: number;
  readonly offset: number;
  readonly length: number;
  readonly verdict: 'record' | 'kept-unknown' | 'damage';
  readonly kind?: string;
  readonly type?: string;
  readonly seq?: number;
  readonly flags?: readonly string[];
}

interface Expectations {
  readonly totals: {
    readonly records: number;
    readonly kept_unknown: number;
    readonly damage_pieces: number;
    readonly damage_bytes: number;
    readonly next_seq: number;
  };
  readonly pieces: readonly Expectation[];
}

const golden = goldenBytes('golden.jsonl');
const odd = goldenBytes('odd.jsonl');
const expected = jsonOf<Expectations>(goldenBytes('odd.expected.json'));

const digests: readonly (readonly [title: string, name: string, digest: string])[] = [
  ['C-54 golden.jsonl', 'golden.jsonl', 'adcbf0f3235f9b80a5c7f6c1325e58bb6e7802a93b3714d30dfa1af049151fad'],
  ['C-54 odd.jsonl', 'odd.jsonl', '76b2e9d5d208ebd5af13b31c25b79bbc24d049721e5535bf91024bfddd606e4e'],
  [
    'C-54 odd.expected.json',
    'odd.expected.json',
    '4a589a1380c353322d638c53b469e27c1b59af55e83327229d34517c01919697',
  ],
];

test.each(digests)('%s is frozen by its hash', (_title, name, digest) => {
  expect(createHash('sha256').update(goldenBytes(name)).digest('hex')).toBe(digest);
  if (hasShared) {
    const shared = createHash('sha256')
      .update(sharedBytes('fixtures', 'wire', name))
      .digest('hex');
    expect(shared).toBe(digest);
  }
});

const goldenLines = linesOf(golden).map(({ start, end }, index) => [index + 1, start, end] as const);

test('the golden file has its 47 lines', () => {
  expect(goldenLines).toHaveLength(47);
});

function encodedAgain(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const { seq, ts, key, salt, event } = decodeRecord(bytes, start, end);
  const envelope = {
    seq: seq ?? 0,
    ts,
    ...(key === null ? {} : { key }),
    ...(salt === null ? {} : { salt }),
  };
  return encodeRecord(envelope, encodeEvent(event));
}

test.each(goldenLines)(
  'C-50 golden line %i decodes, is valid and encodes back to its bytes',
  (line, start, end) => {
    const inspection = inspectRecord(golden, start, end, line === 1);
    expect(inspection.faults).toEqual([]);
    expect(inspection.flags).not.toContain('invalid');
    expect(Buffer.from(encodedAgain(golden, start, end)).equals(golden.subarray(start, end + 1))).toBe(true);
  },
);

test('one changed byte in a golden line does not go unnoticed', () => {
  for (const [, start, end] of goldenLines) {
    const changed = Uint8Array.from(golden.subarray(start, end));
    changed[2] = 0x58;
    expect(judgeLine(changed, 0, changed.length, { highestSeq: 0, isTerminated: true })).toEqual([
      { verdict: 'damage', start: 0, end: changed.length, kind: 'not-a-record' },
    ]);
  }
});

test('the golden file is one readable log', () => {
  const { pieces, state } = readFileOf(golden);
  expect(pieces.every(({ piece, flags }) => piece.verdict === 'record' && flags.length === 0)).toBe(true);
  expect(state).toEqual({ highestSeq: 86, lastTsMs: Date.UTC(2026, 9, 5, 8, 30, 5, 875), recordCount: 47 });
});

test('the odd file gives the stated pieces, verdicts, numbers and flags', () => {
  const { pieces, state } = readFileOf(odd);
  const read = pieces.map(({ line, piece, seq, flags, isFirstRecord }) => {
    const place = { line, offset: piece.start, length: piece.end - piece.start };
    if (piece.verdict === 'damage') return { ...place, verdict: 'damage', kind: piece.kind };
    const content = inspectRecord(odd, piece.start, piece.end, isFirstRecord).flags;
    const verdict = content.some((flag) => flag.startsWith('unknown-')) ? 'kept-unknown' : 'record';
    return { ...place, verdict, type: piece.record.type, seq, flags: [...flags, ...content].sort() };
  });
  const stated = expected.pieces.map(({ line, offset, length, verdict, kind, type, seq, flags }) =>
    verdict === 'damage'
      ? { line, offset, length, verdict, kind }
      : { line, offset, length, verdict, type, seq, flags: flags?.filter((flag) => flag !== 'bom').sort() },
  );
  expect(read).toEqual(stated);
  expect(state.highestSeq).toBe(expected.totals.next_seq - 1);
  expect(state.recordCount).toBe(expected.totals.records);
});

test('odd records give values, but for the one that is too deep', () => {
  for (const { piece } of readFileOf(odd).pieces) {
    if (piece.verdict === 'damage') continue;
    const { eventStart, eventEnd, type } = piece.record;
    const isDeep = inspectRecord(odd, piece.start, piece.end, false).flags.includes('too-deep');
    const value = parseEvent(odd, eventStart, eventEnd);
    if (isDeep) {
      expect(value).toBeNull();
      expect(() => decodeRecord(odd, piece.start, piece.end)).toThrow(
        expect.objectContaining({ code: 'TURNLOG_TOO_DEEP' }),
      );
    } else {
      expect(value?.type).toBe(type);
      expect(decodeRecord(odd, piece.start, piece.end).event).toEqual(value);
    }
  }
});

/** The names of sections 3, 4 and 6 of the contract, written out once more by hand. */
const threadNames =
  'thread.started thread.completed thread.compact_boundary context.reset turn.started turn.completed turn.failed turn.blocked item.started item.updated item.completed permission.requested permission.resolved interjected plan.delta plan.approval.requested plan.approval.resolved matrix.updated error'.split(
    ' ',
  );
const itemNames =
  'agent_message plan reasoning decision command_execution tool_invocation tool_output file_change mcp_tool_call web_search harness error'.split(
    ' ',
  );
const ownNames =
  'log.evicted log.redacted log.recovered log.imported log.summary log.pinned log.unpinned log.removed log.restored log.purged user.message run.started'.split(
    ' ',
  );
const familyNames =
  'log.redaction log.pack run.claimed run.released run.changed run.source run.answer run.kept run.imported run.opened run.finished run.hooked run.delivered journal.opened journal.snapshot journal.set journal.input journal.planned journal.approval journal.started journal.result journal.round journal.accepted journal.closed journal.summary journal.carried journal.begin journal.commit journal.void job.queued job.claimed job.renewed job.released job.failed job.completed job.retried job.maintained job.begin job.commit job.void knowledge.versioned knowledge.set knowledge.tombstoned knowledge.purged knowledge.rebound memory.saved memory.revised memory.reinforced memory.consolidated memory.linked memory.unlinked memory.judged memory.evaluated memory.pinned memory.accessed memory.retracted memory.restored memory.noted memory.source_added memory.source_decoded memory.embedded chronicle.cut chronicle.rolled chronicle.period chronicle.summarized chronicle.windowed wiki.revised wiki.archived skill.revised skill.state skill.used identity.revised person.created person.aliased person.profiled person.merged person.seen'.split(
    ' ',
  );

/** Those of the families that have a table of their own: what stands around the members of a frame. */
const frameNames = ['begin', 'commit', 'void'].flatMap((name) => [`journal.${name}`, `job.${name}`]);

test('C-53 every name with a table occurs in a golden line, and the tables of the code hold just these names', () => {
  const events = goldenLines.map(([, start, end]) => decodeRecord(golden, start, end).event);
  const types = new Set(events.map(({ type }) => type));
  const items = new Set(
    events.flatMap((event) =>
      event.type.startsWith('item.')
        ? [jsonOf<{ item: { type: string } }>(Buffer.from(JSON.stringify(event))).item.type]
        : [],
    ),
  );
  expect([...threadNames, ...ownNames].filter((name) => !types.has(name))).toEqual([]);
  expect(itemNames.filter((name) => !items.has(name))).toEqual([]);
  expect([...eventRule.variants.keys()].sort()).toEqual([...threadNames, ...ownNames, ...frameNames].sort());
  expect([...itemRule.variants.keys()].sort()).toEqual([...itemNames].sort());
  expect([...knownEventNames].sort()).toEqual([...threadNames, ...ownNames, ...familyNames].sort());
});
