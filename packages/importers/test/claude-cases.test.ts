import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sha256Hex } from '@turnlog/kernel';
import { SeededRandom } from '@turnlog/testkit';
import { claudeCode } from '../src/claude-code.js';
import { countsOf, recordCount } from './claude-counts.js';
import { claudeFiles } from './claude-files.js';
import { handMade, threadA, threadB } from './claude-lines.js';
import { corpusBytes, corpusPath, hasCorpus, linesOf, sayWithoutCorpus } from './stream-lines.js';
import {
  eventsOf,
  importAll,
  importOne,
  makeThreadDesk,
  member,
  plantFiles,
  storeSessions,
  turnsOf,
} from './thread-files.js';

sayWithoutCorpus('claude-cases');

const cases = join(corpusPath(), '..', 'cases');
const projects = ['claude', 'projects', '-repo-demo'];

function caseBytes(folder: string, thread: string): Uint8Array {
  return readFileSync(join(cases, folder, ...projects, `${thread}.jsonl`));
}

if (existsSync(cases)) {
  test('B37 a line ends at 0x0A only: two records, and the separator stands in the text', async () => {
    const desk = makeThreadDesk();
    const report = await importOne(desk, caseBytes('B37-unicode-line-separators', threadA));
    expect(report.refused).toEqual([]);
    expect(recordCount(desk, String(report.sessionId))).toBe(2);
    const said = eventsOf(desk, String(report.sessionId)).find(({ type }) => type === 'user.message');
    expect(member(said, 'content', '0', 'text')).toBe('pasted\u2028text');
  });

  test('G-17, B94 a call without result is counted and stays started', async () => {
    const desk = makeThreadDesk();
    const report = await importOne(desk, caseBytes('B94-orphan-tool-call', threadA));
    const sessionId = String(report.sessionId);
    expect(recordCount(desk, sessionId)).toBe(2);
    expect(report.unansweredCount).toBe(1);
    const items = eventsOf(desk, sessionId).filter((event) => member(event, 'item', 'id') === 'toolu_1');
    expect(items.map(({ type }) => type)).toEqual(['item.started']);
  });

  test('G-17, B90 rows and replays of an answer count once over both files, which are linked', async () => {
    const desk = makeThreadDesk();
    const folder = 'B90-usage-repeat-and-replay';
    const files = {
      [`${threadA}.jsonl`]: caseBytes(folder, threadA),
      [`${threadB}.jsonl`]: caseBytes(folder, threadB),
    };
    plantFiles(desk, files);
    const report = await importAll(desk);
    const [first, second] = [`claude-${threadA}`, `claude-${threadB}`];
    expect([countsOf(desk, first), countsOf(desk, second)]).toMatchObject([
      { ans: 1, usage: '100/0/0/50' },
      { ans: 1, usage: '100/0/0/50' },
    ]);
    expect(recordCount(desk, first) + recordCount(desk, second)).toBe(9);
    expect(recordCount(desk, first, 'repeat:') + recordCount(desk, second, 'repeat:')).toBe(2);
    const answers = eventsOf(desk, second).filter(({ type }) => type === 'run.answer');
    expect(answers.map((answer) => [answer['answer_id'], answer['repeat_of']])).toEqual([
      ['msg_1', first],
      ['msg_2', undefined],
    ]);
    const ends = [first, second].flatMap((id) =>
      eventsOf(desk, id).filter(({ type }) => type === 'turn.completed'),
    );
    const sumOf = (name: string): number =>
      ends.reduce((sum, end) => sum + Number(member(end, 'usage', name)), 0);
    expect([sumOf('input_tokens'), sumOf('output_tokens')]).toEqual([200, 100]);
    expect(report.isWhole).toBe(true);
    const before = [first, second].map((id) => desk.fs.contentOf(`${storeSessions}/${id}/events.jsonl`));
    await importAll(desk);
    expect([first, second].map((id) => desk.fs.contentOf(`${storeSessions}/${id}/events.jsonl`))).toEqual(
      before,
    );
  });
}

const samples: readonly (readonly [name: string, read: () => Uint8Array])[] = [
  ['a transcript made by hand', handMade],
  ...(hasCorpus
    ? claudeFiles.map((path) => [path.join('/'), () => corpusBytes('claude', ...path)] as const)
    : []),
];

test.each(samples)('%s: each event names the bytes that it was made from', async (_name, read) => {
  const bytes = read();
  const desk = makeThreadDesk();
  const report = await importOne(desk, bytes);
  const lineStarts = [0];
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lineStarts.push(at + 1);
  let sources = 0;
  for (const sessionId of [String(report.sessionId), ...report.childSessionIds]) {
    const events = eventsOf(desk, sessionId);
    const files = events.filter(({ type }) => type === 'run.source').map(({ file, path }) => [file, path]);
    expect(files).toEqual([[sessionId === report.sessionId ? 'f1' : 'f1p', '/foreign/one.jsonl']]);
    for (const { src } of events) {
      if (src === undefined) continue;
      sources += 1;
      const [offset, length, line] = ['offset', 'bytes', 'line'].map((name) => Number(member(src, name)));
      expect(sha256Hex(bytes.subarray(offset, Number(offset) + Number(length)))).toBe(member(src, 'sha256'));
      expect(lineStarts.filter((start) => start <= Number(offset)).length).toBe(line);
      expect(member(src, 'file')).toBe(files[0]?.[0]);
    }
  }
  expect(sources).toBeGreaterThan(3);
});

test.each(samples)('%s: the parts of the raw copy joined are the source', async (_name, read) => {
  const bytes = read();
  const desk = makeThreadDesk();
  const { sessionId } = await importOne(desk, bytes);
  const passes = eventsOf(desk, String(sessionId)).filter(({ type }) => type === 'run.imported');
  const parts = passes.flatMap(({ raw }) => (Array.isArray(raw) ? raw : []));
  const joined = parts.map((part) => {
    const asset = String(member(part, 'asset'));
    return gunzipSync(desk.fs.contentOf(`/store/assets/${asset.slice(0, 2)}/${asset}`));
  });
  expect(sha256Hex(Buffer.concat(joined))).toBe(sha256Hex(bytes));
});

if (hasCorpus) {
  test('fused objects of a line have places of their own', async () => {
    const desk = makeThreadDesk();
    const bytes = corpusBytes('claude', 'entireio-cli', '2.1.7+2.1.12-concatenated-line.jsonl');
    const { sessionId } = await importOne(desk, bytes);
    const places = eventsOf(desk, String(sessionId)).map(({ src }) => [
      member(src, 'line'),
      member(src, 'offset'),
      member(src, 'bytes'),
    ]);
    expect(places).toContainEqual([128, 403_953, 1_007]);
    expect(bytes[403_953 + 1_007]).toBe(0x7b);
    const parts = new TextDecoder().decode(bytes.subarray(404_960, 404_960 + 129));
    expect([JSON.parse(parts.slice(0, 128)).type, parts.at(-1)]).toEqual(['summary', '\n']);
  });

  test('small samples of other tools: nothing thrown, nothing refused, the account closes', async () => {
    const folder = corpusPath('shapes', 'agent-sessions', 'claude');
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.jsonl'))) {
      const bytes = readFileSync(join(folder, name));
      const desk = makeThreadDesk();
      const report = await importOne(desk, bytes);
      expect([name, report.outcome, report.format, report.refused]).toEqual([name, 'new', 'claude-code', []]);
      expect(report.ledger.mapped + report.ledger.kept).toBe(bytes.length);
    }
  });

  test('a sub-agent whose lines name itself as their session finds its parent by its folder', async () => {
    const folder = corpusPath('shapes', 'agent-sessions', 'claude', 'subagent');
    const thread = '0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f';
    const agent = 'agent-a0ad4f44468bdf20d.jsonl';
    const desk = makeThreadDesk();
    plantFiles(desk, {
      [`${thread}.jsonl`]: readFileSync(join(folder, `${thread}.jsonl`)),
      [`${thread}/subagents/${agent}`]: readFileSync(join(folder, thread, 'subagents', agent)),
    });
    const report = await importAll(desk);
    expect(report.sources.map(({ sessionId }) => sessionId)).toEqual([
      `claude-${thread}`,
      `claude-${thread}.a0ad4f44468bdf20d`,
    ]);
  });
}

const recognised: readonly (readonly [json: string, isOne: boolean])[] = [
  ['{"type":"user","sessionId":"s","message":{"role":"user","content":"x"}}', true],
  ['{"type":"summary","summary":"x","leafUuid":"u"}', true],
  ['{"type":"file-history-snapshot","messageId":"m","snapshot":{}}', true],
  ['{"type":"assistant","uuid":"u","message":{"content":[]}}', true],
  ['{"type":"brand-new","sessionId":"s"}', true],
  ['{"sessionId":"s","message":{}}', false],
  ['{"type":"user","uuid":"u"}', false],
  ['{"type":"assistant","uuid":"u","session_id":"s","message":{"content":[]}}', false],
  ['{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","parts":[{"text":"x"}]}}', false],
  ['{"type":"system","uuid":"u","sessionId":"s","subtype":"ui_telemetry","systemPayload":{}}', false],
  ['{"timestamp":"t","type":"response_item","payload":{},"sessionId":"s"}', false],
  ['{"schema_version":"0.2.0","type":"x","sessionId":"s"}', false],
];

test.each(recognised)('a transcript may begin with %s: %s', (json, isOne) => {
  expect(claudeCode.recognises(JSON.parse(json))).toBe(isOne);
});

test('a child and its parent count from their first records; a line that is dropped shows in the account', async () => {
  const envelope = {
    cwd: '/repo',
    version: '2.1.90',
    sessionId: threadA,
    timestamp: '2026-01-05T10:00:00.000Z',
  };
  const line = (uuid: string, more: object): object => ({
    ...{ type: 'user', uuid, parentUuid: null, isSidechain: false, message: { role: 'user', content: uuid } },
    ...envelope,
    ...more,
  });
  const side = { isSidechain: true, agentId: '1' };
  const desk = makeThreadDesk();
  const child = linesOf(line('i0', side), line('i1', side));
  plantFiles(desk, {
    [`${threadA}.jsonl`]: linesOf(line('r0', {}), line('r1', {})),
    [`${threadA}/subagents/agent-1.jsonl`]: Buffer.concat([child, Buffer.from('{"type":"user",\n')]),
  });
  const report = await importAll(desk);
  expect(report.sources.map(({ sessionId }) => sessionId)).toEqual([
    `claude-${threadA}`,
    `claude-${threadA}.1`,
  ]);
  expect(eventsOf(desk, `claude-${threadA}.1`)[1]).toMatchObject({
    agent: 'subagent',
    parent: { session: `claude-${threadA}`, thread_id: threadA },
  });
  expect(turnsOf(desk, `claude-${threadA}`)).toHaveLength(2);
  expect(turnsOf(desk, `claude-${threadA}.1`)).toHaveLength(1);
  expect(report.ledger.records).toMatchObject({ 'refused:bad-json': 1 });
  expect(report).toMatchObject({ isWhole: false, damagedCount: 1 });
});

test('members removed, null or of another type lose no neighbour and no byte of the account', async () => {
  const random = new SeededRandom(11);
  const lines = new TextDecoder().decode(handMade()).trimEnd().split('\n');
  for (let round = 0; round < 100; round += 1) {
    const changed = lines.map((each) => (random.below(6) === 0 ? damaged(each, random) : each));
    const bytes = new TextEncoder().encode(`${changed.join('\n')}\n`);
    const desk = makeThreadDesk();
    plantFiles(desk, { [`${threadA}.jsonl`]: bytes });
    const [report] = (await importAll(desk, { from: ['claude-code'] })).sources;
    if (report === undefined || report.outcome === 'unknown') continue;
    expect(report.error).toBeNull();
    expect(report.refused).toEqual([]);
    expect(report.ledger.mapped + report.ledger.kept).toBe(bytes.length);
    expect(turnsOf(desk, String(report.sessionId))).not.toContain('open');
  }
}, 60_000);

/** A line with one member, at any depth, removed, null, a number, a list or unknown. */
function damaged(text: string, random: SeededRandom): string {
  const value: unknown = JSON.parse(text);
  let at: unknown = value;
  for (let depth = random.below(4); depth >= 0; depth -= 1) {
    if (typeof at !== 'object' || at === null) break;
    const names = Object.keys(at);
    const name = names[random.below(Math.max(1, names.length))];
    if (name === undefined) break;
    const next: unknown = Reflect.get(at, name);
    if (depth === 0 || typeof next !== 'object' || next === null) {
      const others = [undefined, null, 7, [], {}, 'x', [[null]], true];
      Reflect.set(at, name, others[random.below(others.length)]);
      break;
    }
    at = next;
  }
  return JSON.stringify(value);
}
