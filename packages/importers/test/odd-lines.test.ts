import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BatchReport } from '../src/index.js';
import { fileOf, type LineFormat, lineFormats, type Slots } from './line-formats.js';
import { corpusPath } from './stream-lines.js';
import {
  type Event,
  importAll,
  makeThreadDesk,
  member,
  plantFiles,
  recordsOf,
  type ThreadDesk,
} from './thread-files.js';

/** The cases of odd bytes, each put into the lines of every format. */

interface Imported {
  readonly desk: ThreadDesk;
  readonly report: BatchReport;
  readonly events: readonly Event[];
  /** The stored bytes of the events, as text. */
  readonly stored: string;
}

async function imported(format: LineFormat, bytes: Uint8Array): Promise<Imported> {
  const desk = makeThreadDesk();
  plantFiles(desk, { [`one/${format.file}`]: bytes });
  const report = await importAll(desk);
  const sessionId = report.sources[0]?.sessionId ?? '';
  const records = report.sources[0]?.error === null ? recordsOf(desk, sessionId) : [];
  const stored = records.map((record) => Buffer.from(record.eventBytes()).toString('utf8'));
  return {
    desk,
    report,
    events: stored.flatMap((text) => (text.length > 5_000 ? [] : [JSON.parse(text) as Event])),
    stored: stored.join('\n'),
  };
}

const importedWith = (format: LineFormat, slots: Slots): Promise<Imported> =>
  imported(format, fileOf(format.lines(slots)));

/** What the agent said, in order. */
function textsIn(events: readonly Event[]): readonly unknown[] {
  return events
    .filter(({ type }) => type === 'item.completed')
    .filter((event) => member(event, 'item', 'type') === 'agent_message')
    .map((event) => member(event, 'item', 'text'));
}

function toolsIn(events: readonly Event[]): readonly unknown[] {
  const calls = events.filter((event) => /call|invocation/.test(String(member(event, 'item', 'type'))));
  return [...new Set(calls.map((event) => member(event, 'item', 'tool_name')))];
}

const named = lineFormats.map((format) => [format.name, format] as const);
const foreign = named.filter(([name]) => name !== 'vtcode');

test.each(named)('the thread of %s is one session of its format, whole', async (name, format) => {
  const { report, events } = await importedWith(format, {});
  expect(report).toMatchObject({ isWhole: true, outcomes: { new: 1 } });
  expect(report.sources[0]).toMatchObject({ format: name, sessionId: format.sessionId, unansweredCount: 0 });
  expect([textsIn(events), toolsIn(events)]).toEqual([['said', 'end'], ['lookup']]);
});

test.each(named)('G-17, B12 %s: a bad line is named, its neighbours are in', async (name, format) => {
  const lines = [...format.lines()];
  lines.splice(2, 0, '{"timestamp":"2026-01-05T10:00:00.000Z","type":');
  const { report, events } = await imported(format, fileOf(lines));
  expect([textsIn(events), toolsIn(events)]).toEqual([['said', 'end'], ['lookup']]);
  const [source] = report.sources;
  expect([source?.outcome, source?.sessionId]).toEqual(['new', format.sessionId]);
  // A log says in its own words what is damaged.
  const reason = name === 'vtcode' ? 'unreadable' : 'bad-json';
  expect(source?.refused.map((each) => [each.line, each.reason])).toEqual([[3, reason]]);
  expect(report).toMatchObject({ damagedCount: 1, isWhole: false, outcomes: { failed: 0 } });
});

test.each(named)(
  'G-17, B37 %s: a line ends at 0x0A only, and separators stand in the text',
  async (_name, format) => {
    const text = 'a\u2028b\u2029c\u0085d\u000be';
    const { report, events } = await importedWith(format, { text: JSON.stringify(text) });
    expect(report).toMatchObject({ isWhole: true, outcomes: { new: 1 } });
    expect(textsIn(events)).toEqual([text, 'end']);
  },
);

test.each(named)(
  'G-17, B40 %s: half a character stays, and bytes that are no text cost no record',
  async (_name, format) => {
    const escaped = await importedWith(format, { text: '"cut \\ud83d\\u2026 end"' });
    expect(escaped.report.isWhole).toBe(true);
    expect(escaped.stored.toLowerCase()).toContain('cut \\ud83d');
    expect(textsIn(escaped.events)).toEqual(['cut \ud83d\u2026 end', 'end']);

    const before = Buffer.from(fileOf(format.lines({ text: '"raw ??? bytes"' })));
    const bytes = Buffer.from(before.toString('latin1').replace('???', '\xed\xa6\x9c'), 'latin1');
    const raw = await imported(format, bytes);
    expect(raw.report).toMatchObject({ isWhole: true, outcomes: { new: 1 } });
    expect(textsIn(raw.events)).toEqual([expect.stringMatching(/^raw \ufffd+ bytes$/), 'end']);
  },
);

test.each(named)('G-17, B42 %s: a byte-order mark and 0x0D belong to no value', async (name, format) => {
  const lines = format.lines({ text: '"inner \ufeff mark"' });
  const bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), fileOf(lines, '\r\n')]);
  const { report, events, stored } = await imported(format, bytes);
  expect(report).toMatchObject({ isWhole: true, outcomes: { new: 1 } });
  expect(textsIn(events)).toEqual(['inner \ufeff mark', 'end']);
  expect(stored).not.toContain('\\r');
  const offsets = events.map((event) => member(event, 'src', 'offset')).filter((at) => at !== undefined);
  if (name !== 'vtcode') expect(Math.min(...offsets.map(Number))).toBe(3);
  const plain = await imported(format, fileOf(lines));
  expect(events.length).toBe(plain.events.length);
});

test.each(named)('G-17, B44 %s: digits stay what they are', async (_name, format) => {
  const args = '{"id":2512292042121000001,"ratio":1e400,"zero":-0,"one":1.0,"safe":9007199254740991}';
  const { report, stored } = await importedWith(format, { args });
  expect(report.isWhole).toBe(true);
  expect(stored).toContain(`"arguments":${args}`);
});

test.each(named)(
  'G-17, B46 %s: names that objects have by themselves are names as any',
  async (_name, format) => {
    const args = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    for (const tool of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const { report, events, stored } = await importedWith(format, { tool: JSON.stringify(tool), args });
      expect(report).toMatchObject({ isWhole: true, unansweredCount: 0 });
      expect(toolsIn(events)).toEqual([tool]);
      expect(stored).toContain(`"arguments":${args}`);
    }
    expect([Reflect.get({}, 'polluted'), Reflect.ownKeys(Object.prototype).includes('polluted')]).toEqual([
      undefined,
      false,
    ]);
  },
);

const deep = `{"x":${'['.repeat(6_000)}${']'.repeat(6_000)}}`;

test.each(named)(
  'G-17, B48 %s: 6,000 nested arrays cost nothing but what holds them',
  async (name, format) => {
    const { report, events, stored } = await importedWith(format, { args: deep });
    expect(textsIn(events)).toEqual(['said', 'end']);
    const refused = report.sources[0]?.refused.map(({ reason }) => reason);
    // A rollout holds arguments as text, and a log keeps its lines: there they are in, and nobody has to nest so deep.
    if (name === 'codex-rollout' || name === 'vtcode') {
      expect(stored).toContain(name === 'vtcode' ? deep : JSON.stringify(deep));
      expect([refused, report.isWhole]).toEqual([[], true]);
    } else {
      expect([refused, report.isWhole, report.damagedCount]).toEqual([['too-deep'], false, 1]);
    }
  },
);

const badTimes = ['-1', '1e20', '""', '"yesterday"', '"2026-02-30T10:00:00.000Z"', 'null', undefined];

test.each(named)(
  'G-17, B49 %s: a time that is none is unknown, and order is that of the file',
  async (name, format) => {
    for (const time of badTimes) {
      const { desk, report, events } = await importedWith(format, { time });
      expect(report).toMatchObject({ isWhole: true, outcomes: { new: 1 } });
      expect(textsIn(events)).toEqual(['said', 'end']);
      const records = recordsOf(desk, format.sessionId);
      const end = records.find((record) =>
        Buffer.from(record.eventBytes()).toString().includes('"text":"end"'),
      );
      // The record before has a time, and this one takes it.
      expect(end?.ts).toBe(format.hasTimes ? '2026-01-05T10:00:00.000Z' : null);
      if (name !== 'vtcode' && format.hasTimes) {
        expect(member(end?.readEvent(), 'src', 'derived')).toEqual(expect.arrayContaining(['ts']));
      }
    }
  },
);

test.each(foreign)(
  'what %s says of an odd thread is the same after a second import',
  async (_name, format) => {
    const lines = [...format.lines({ text: '"a\u2028b\\ud83d"', args: '{"n":1e400}', time: '-1' })];
    lines.splice(3, 0, 'no json', deep);
    const { desk, stored } = await imported(format, fileOf(lines));
    const again = await importAll(desk);
    expect(again.outcomes.unchanged).toBe(1);
    const records = recordsOf(desk, format.sessionId);
    expect(records.map((record) => Buffer.from(record.eventBytes()).toString()).join('\n')).toBe(stored);
  },
);

const cases = join(corpusPath(), '..', 'cases');
const natives = [
  ['B37', 'B37-unicode-line-separators', 'events.jsonl', 3],
  ['B40', 'B40-lone-surrogates', 'events.jsonl', 4],
  ['B42', 'B42-bom-and-crlf', 'import.jsonl', 3],
  ['B44', 'B44-big-integers', 'events.jsonl', 1],
  ['B46', 'B46-proto-keys', 'events.jsonl', 4],
  ['B48', 'B48-deep-nesting', 'events.jsonl', 3],
  ['B49', 'B49-bad-timestamps', 'events.jsonl', 8],
] as const;

if (existsSync(cases)) {
  test.each(natives)(
    '%s: the file of the case itself, %s, comes in byte for byte',
    async (_id, folder, file, count) => {
      const desk = makeThreadDesk();
      const bytes = readFileSync(join(cases, folder, file));
      plantFiles(desk, { 'case/events.jsonl': bytes });
      const { sources } = await importAll(desk);
      expect(sources[0]).toMatchObject({ outcome: 'new', format: 'vtcode', error: null, refused: [] });
      const sessionId = String(sources[0]?.sessionId);
      expect(recordsOf(desk, sessionId)).toHaveLength(count + 1);
      const log = Buffer.from(
        desk.fs.contentOf(`${desk.target.sessionsDirectory}/${sessionId}/events.jsonl`),
      );
      const body = bytes.subarray(bytes[0] === 0xef ? 3 : 0);
      expect(log.subarray(log.indexOf(0x0a) + 1).equals(body)).toBe(true);
    },
  );
}
