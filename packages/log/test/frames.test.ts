import { createHash } from 'node:crypto';
import { inspectRecord } from '@turnlog/events';
import {
  type BrokenFrame,
  type EventInput,
  effectiveRecords,
  invalidJournal,
  openLogReader,
  type SharedHandle,
  transaction,
} from '@turnlog/log';
import { TestLog } from './support.js';

const ledger = '/store/ledger';
const note = (mark: string): EventInput => ({ type: 'x.test.note', mark });
const plan = { frame: 'f-1', fence: 4, kind: 'plan' };

const invalid = (rule: string): Error =>
  expect.objectContaining({ code: 'TURNLOG_INVALID_EVENT', details: expect.objectContaining({ rule }) });

interface Stored {
  readonly seq: number;
  readonly key?: string;
  readonly event: Readonly<Record<string, unknown>>;
}

function linesOf(bytes: Uint8Array): readonly string[] {
  return Buffer.from(bytes).toString('utf8').split('\n').slice(0, -1);
}

function stored(log: TestLog): readonly Stored[] {
  return linesOf(log.bytes()).map((line) => JSON.parse(line) as Stored);
}

/** The digest of a commit, written out once more. */
function digestOf(lines: readonly string[]): string {
  const digest = createHash('sha256');
  for (const line of lines) digest.update(createHash('sha256').update(`\0${line}`).digest());
  return digest.digest('hex');
}

function typesOf(log: TestLog): readonly unknown[] {
  return stored(log).map(({ event }) => event['type']);
}

interface Told {
  readonly seqs: readonly number[];
  readonly broken: readonly BrokenFrame[];
}

/** What counts in a log, and what is broken in it. */
function counted(log: TestLog): Told {
  const reader = log.read();
  const broken: BrokenFrame[] = [];
  try {
    const seqs = [...effectiveRecords(reader.records(), (frame) => broken.push(frame))].map(
      ({ record }) => record.seq,
    );
    return { seqs, broken };
  } finally {
    reader.close();
  }
}

function line(seq: number, event: object, more: object = {}): string {
  return `${JSON.stringify({ schema_version: '0.18.0', seq, ts: '2026-01-05T10:00:00.000Z', ...more, event })}\n`;
}

const begin = (frame: string): object => ({ type: 'journal.begin', frame, fence: null, kind: 'plan' });
const commit = (frame: string, lines: readonly string[]): object => ({
  type: 'journal.commit',
  frame,
  count: lines.length,
  sha256: digestOf(lines.map((text) => text.slice(0, -1))),
});

test('C-57 a frame is begin, members and commit in one batch and one sync, with nothing between and none inside', async () => {
  const test = new TestLog();
  const log = await test.open();
  log.append({ type: 'turn.started' });
  const writes = test.fs.countOf('write');
  const syncs = test.fs.countOf('syncData');
  const result = log.appendFrame(plan, [note('a'), { raw: '{"type":"x.test.note","mark":"b"}' }]);
  // What was buffered goes with it: one write, one sync.
  expect([test.fs.countOf('write') - writes, test.fs.countOf('syncData') - syncs]).toEqual([1, 1]);
  expect(result).toEqual({ beginSeq: 2, seqs: [3, 4], commitSeq: 5 });
  expect(log.durableSeq).toBe(5);
  const lines = linesOf(test.bytes());
  expect(
    stored(test)
      .slice(1)
      .map(({ event }) => event),
  ).toEqual([
    { type: 'journal.begin', frame: 'f-1', fence: 4, kind: 'plan' },
    { type: 'x.test.note', mark: 'a' },
    { type: 'x.test.note', mark: 'b' },
    { type: 'journal.commit', frame: 'f-1', count: 2, sha256: digestOf(lines.slice(2, 4)) },
  ]);

  const inside = 'nothing is appended or written from inside of a batch that is being built';
  const before = test.bytes();
  for (const between of [
    () => log.append(note('between')),
    () => log.appendBatch([note('between')]),
    () => log.appendFrame({ ...plan, frame: 'f-2' }, [note('between')]),
    () => log.flush(),
    () => log.sync(),
  ]) {
    expect(() =>
      log.appendFrame({ ...plan, frame: 'f-3' }, (batch) => {
        batch.add(note('first'));
        between();
      }),
    ).toThrow(invalid(inside));
  }
  for (const type of ['journal.begin', 'journal.commit', 'journal.void', 'job.begin']) {
    const nested = {
      raw: JSON.stringify({ type, frame: 'n', fence: null, kind: 'plan', count: 0, sha256: '', reason: 'r' }),
    };
    expect(() => log.appendFrame(plan, [note('first'), nested])).toThrow(invalid('never stands in a frame'));
    expect(() => log.append(nested)).toThrow(expect.objectContaining({ code: 'TURNLOG_RESERVED_RECORD' }));
  }
  expect(() => log.appendFrame(plan, [])).toThrow(invalid('a frame has a member'));
  log.flush();
  expect(test.bytes()).toEqual(before);

  // The ledger has the same members in the family of jobs.
  test.disk.makeDirectory('/store');
  await transaction(test.machine, ledger, 'ledger', (shared: SharedHandle) => {
    shared.appendFrame({ frame: 'f-9', fence: null, kind: 'distilled' }, (batch) => {
      const { leaf } = batch.add(note('a'));
      batch.add({ type: 'x.test.note', after: leaf });
    });
  });
  const inLedger = linesOf(test.disk.contentOf(`${ledger}/events.jsonl`));
  const events = inLedger.map((text) => (JSON.parse(text) as Stored).event);
  expect(events[0]).toEqual({ type: 'job.begin', frame: 'f-9', fence: null, kind: 'distilled' });
  expect(events[2]).toEqual({ type: 'x.test.note', after: digestLeaf(inLedger[1] ?? '') });
  expect(events[3]).toEqual({
    type: 'job.commit',
    frame: 'f-9',
    count: 2,
    sha256: digestOf(inLedger.slice(1, 3)),
  });

  // A member that was redacted still verifies, by the leaf of the line that stood there.
  await log.close();
  const third = JSON.parse(lines[2] ?? '') as Stored;
  const redacted = JSON.stringify({
    ...third,
    event: {
      type: 'log.redacted',
      leaf: digestLeaf(lines[2] ?? ''),
      original_type: 'x.test.note',
      length: 9,
      redacted_at: '2026-01-05T10:00:00.000Z',
    },
  });
  test.replace('events.jsonl', `${[...lines.slice(0, 2), redacted, ...lines.slice(3)].join('\n')}\n`);
  expect(counted(test)).toEqual({ seqs: [1, 2, 3, 4, 5], broken: [] });

  const kinds = {
    journal: ['plan', 'result', 'round', 'final', 'recover', 'append'],
    job: ['distilled', 'memory'],
  };
  for (const [family, known] of Object.entries(kinds)) {
    for (const kind of [...known, 'of-tomorrow']) {
      const bytes = Buffer.from(line(1, { type: `${family}.begin`, frame: 'f', fence: null, kind }));
      const flags = known.includes(kind) ? [] : ['unknown-type'];
      expect(inspectRecord(bytes, 0, bytes.length - 1, true)).toEqual({ flags, faults: [] });
    }
  }
  const malformed: readonly (readonly [event: object, place: string])[] = [
    [{ type: 'journal.begin', frame: 'f', kind: 'plan' }, '/event/fence'],
    [{ type: 'job.begin', frame: 'f', fence: -1, kind: 'memory' }, '/event/fence'],
    [{ type: 'journal.commit', frame: 'f', count: '1', sha256: '' }, '/event/count'],
    [{ type: 'job.commit', frame: 'f', count: 1 }, '/event/sha256'],
    [{ type: 'journal.void', frame: 'f' }, '/event/reason'],
    [{ type: 'job.void', frame: null, reason: 'r' }, '/event/frame'],
  ];
  for (const [event, place] of malformed) {
    const bytes = Buffer.from(line(1, event));
    expect(inspectRecord(bytes, 0, bytes.length - 1, true).faults).toEqual([
      expect.objectContaining({ place }),
    ]);
  }
});

function digestLeaf(text: string): string {
  return createHash('sha256').update(`\0${text}`).digest('hex');
}

test('the digest is the one that the specification works out', () => {
  const test = new TestLog();
  test.plant(
    [
      '{"schema_version":"0.18.0","seq":23,"ts":"2026-10-05T08:30:00.115Z","event":{"type":"journal.begin","frame":"f-3","fence":4,"kind":"final"}}',
      '{"schema_version":"0.18.0","seq":24,"ts":"2026-10-05T08:30:00.120Z","event":{"type":"item.completed","item":{"id":"i-3","type":"agent_message","text":"It is an app."}}}',
      '{"schema_version":"0.18.0","seq":25,"ts":"2026-10-05T08:30:00.125Z","event":{"type":"journal.closed","fence":4,"turn_id":"t-1","outcome":"completed","rounds":1,"error":null,"by":"agent","usage":{"input_tokens":90,"cached_input_tokens":0,"cache_creation_tokens":0,"output_tokens":12}}}',
      '{"schema_version":"0.18.0","seq":26,"ts":"2026-10-05T08:30:00.130Z","event":{"type":"journal.commit","frame":"f-3","count":2,"sha256":"bfc8cc6231c6d142189991323af1b36131288f3fef37e39bca23e70740fb77c7"}}',
      '',
    ].join('\n'),
  );
  expect(counted(test)).toEqual({ seqs: [23, 24, 25, 26], broken: [] });
});

const strangers = [
  { type: 'turn.started' },
  { type: 'turn.completed', usage: {} },
  { type: 'turn.failed', message: 'm' },
  { type: 'turn.blocked', message: 'm' },
  { type: 'thread.started', thread_id: 't' },
  { type: 'thread.compact_boundary', thread_id: 't' },
  { type: 'user.message', id: 'u', origin: 'prompt', content: [] },
] as const;

test.each(strangers)(
  'C-59 $type never stands in a frame: a writer refuses it, a reader ends the frame there',
  async (event) => {
    const test = new TestLog();
    const log = await test.open();
    log.append(note('before'));
    log.sync();
    const before = test.bytes();
    for (const input of [event, { raw: JSON.stringify(event) }]) {
      expect(() => log.appendFrame(plan, [note('a'), input])).toThrow(invalid('never stands in a frame'));
    }
    log.sync();
    expect(test.bytes()).toEqual(before);
    expect(log.lastSeq).toBe(1);
    await log.close();

    const [first, last] = [line(2, note('a')), line(4, note('b'))];
    const texts = [line(1, begin('f')), first, line(3, event), last, line(5, commit('f', [first, last]))];
    test.plant(texts.join(''));
    expect(counted(test)).toEqual({
      seqs: [3, 4],
      broken: [{ beginSeq: null, commitSeq: 5, frame: 'f', fault: 'no-begin' }],
    });
    // So it does when it was redacted.
    const redacted = line(3, {
      type: 'log.redacted',
      leaf: '0'.repeat(64),
      original_type: event.type,
      length: 9,
      redacted_at: '2026-01-05T10:00:00.000Z',
    });
    test.plant([...texts.slice(0, 2), redacted, ...texts.slice(3)].join(''));
    expect(counted(test).seqs).toEqual([3, 4]);
  },
);

const member = line(2, note('a'));
const broken: readonly (readonly [title: string, texts: readonly string[], fault: object])[] = [
  [
    'has no begin',
    [line(1, note('a')), line(2, commit('f', []))],
    { beginSeq: null, commitSeq: 2, fault: 'no-begin' },
  ],
  [
    'is of another frame',
    [line(1, begin('f')), member, line(3, commit('g', [member]))],
    { beginSeq: 1, commitSeq: 3, frame: 'f', fault: 'other-frame' },
  ],
  [
    'is of the other family',
    [line(1, begin('f')), member, line(3, { ...commit('f', [member]), type: 'job.commit' })],
    { beginSeq: 1, commitSeq: 3, fault: 'other-frame' },
  ],
  [
    'names another count',
    [line(1, begin('f')), member, line(3, { ...commit('f', [member]), count: 2 })],
    { beginSeq: 1, commitSeq: 3, fault: 'count' },
  ],
  [
    'names another digest',
    [line(1, begin('f')), member, line(3, { ...commit('f', [member]), sha256: '0'.repeat(64) })],
    { beginSeq: 1, commitSeq: 3, fault: 'digest' },
  ],
  [
    'stands behind a recovery',
    [
      line(1, begin('f')),
      member,
      line(3, { type: 'log.recovered', reason: 'torn_tail', damage: [], open_turn: null }),
      line(4, commit('f', [member])),
    ],
    { beginSeq: null, commitSeq: 4, fault: 'no-begin' },
  ],
];

test.each(broken)(
  'a commit that %s makes the frame broken, and a writer does not void it',
  async (_title, texts, fault) => {
    const test = new TestLog();
    test.plant(texts.join(''));
    const told = counted(test).broken;
    expect(told).toEqual([expect.objectContaining(fault)]);
    const [frame] = told;
    if (frame !== undefined) {
      expect(invalidJournal('/log', frame)).toMatchObject({
        code: 'TURNLOG_INVALID_JOURNAL',
        details: { path: '/log', seq: frame.commitSeq, rule: frame.fault },
      });
    }
    const log = await test.open();
    log.append(note('after'));
    await log.close();
    expect(typesOf(test).slice(texts.length)).toEqual(['x.test.note']);
    expect(counted(test).broken).toEqual(told);
  },
);

test('a frame of more members than one may have is broken, is refused, and does not fill the memory', async () => {
  const test = new TestLog();
  test.plant(line(1, begin('f')) + member + line(3, commit('f', [])));
  const reader = test.read();
  const [first, second, last] = [...reader.records()];
  reader.close();
  function* many(): Iterable<NonNullable<typeof first>> {
    if (first !== undefined) yield first;
    for (let count = 0; count < 65_537 && second !== undefined; count += 1) yield second;
    if (last !== undefined) yield last;
  }
  const faults: string[] = [];
  expect([...effectiveRecords(many(), ({ fault }) => faults.push(fault))]).toEqual([]);
  expect(faults).toEqual(['too-long']);

  const other = new TestLog();
  const log = await other.open();
  const members = Array.from({ length: 65_537 }, () => note('a'));
  expect(() => log.appendFrame(plan, members)).toThrow(invalid('a frame has at most 65536 members'));
  expect(log.lastSeq).toBe(0);
  expect(log.appendFrame(plan, members.slice(0, 65_536)).commitSeq).toBe(65_538);
  await log.close();
  expect(counted(other).broken).toEqual([]);
});

test('what a frame does not bring to its end changes neither keys nor what the session says of itself', async () => {
  const test = new TestLog();
  await test.write([{ type: 'journal.set', fence: null, title: 'kept' }]);
  const whole = await test.open();
  const members: EventInput[] = [{ type: 'journal.set', fence: null, title: 'framed' }];
  whole.appendFrame(plan, (batch) => {
    for (const event of members) batch.add(event);
    batch.add(note('keyed'), { key: 'k-1' });
  });
  expect(whole.state.facts.title).toBe('framed');
  expect(whole.append(note('keyed'), { key: 'k-1' })).toMatchObject({ duplicate: true, seq: 4 });
  await whole.close();
  expect(test.manifest().turnlog).toMatchObject({ title: 'framed', keys: 1 });

  const texts = linesOf(test.bytes());
  for (const kept of [3, 4]) {
    test.plant(`${texts.slice(0, kept).join('\n')}\n`);
    for (const name of ['manifest.json', 'index/turns.jsonl', 'index/keys.jsonl']) {
      if (test.disk.status(test.path(name)) !== null) test.remove(name);
    }
    const log = await test.open();
    expect(log.state.facts.title).toBe('kept');
    expect(log.append(note('other'), { key: 'k-1' }).duplicate).toBeUndefined();
    await log.close();
    expect(test.manifest().turnlog).toMatchObject({ title: 'kept', keys: 1 });
    const again = await test.open();
    expect(again.report.scan).toBe('none');
    expect(() => again.append(note('keyed'), { key: 'k-1' })).toThrow(
      expect.objectContaining({ code: 'TURNLOG_KEY_CONFLICT' }),
    );
    await again.close();
  }
});

test.each([
  ['committed, stands for the one that left', true],
  ['cut short, leaves the one that left to be carried', false],
])('a matrix in a frame that is %s', async (_title, isCommitted) => {
  const matrix = (revision: number): EventInput => ({
    raw: `{"type":"matrix.updated","spec":{"id":"m","tasks":[]},"lifecycle":"created","tasks":[],"generation":null,"revision":${revision}}`,
  });
  const completed = { raw: '{"type":"turn.completed","usage":{}}' };
  const test = new TestLog();
  await test.write([{ type: 'turn.started' }, matrix(1), completed, { type: 'turn.started' }, completed]);
  const log = await test.open();
  log.appendFrame(plan, [matrix(2)]);
  await log.close();
  if (!isCommitted) {
    const lines = linesOf(test.bytes());
    test.plant(`${lines.slice(0, -1).join('\n')}\n`);
    test.remove('manifest.json');
  }
  const cut = await test.open({ cap: { maxEvents: 6, target: 0.9 } });
  await cut.maintain();
  await cut.close();
  const [header] = stored(test);
  expect(header?.event['type']).toBe('log.evicted');
  expect(JSON.stringify(header?.event['carried'] ?? []).includes('"revision":1')).toBe(!isCommitted);
});

test('an eviction carries and quotes nothing of a frame that came to nothing', async () => {
  const test = new TestLog();
  const said = (text: string): EventInput => ({
    type: 'item.completed',
    item: { id: text, type: 'agent_message', text },
  });
  await test.write([
    { type: 'turn.started' },
    { type: 'journal.set', fence: null, title: 'kept' },
    said('said'),
  ]);
  const lines = linesOf(test.bytes());
  const framed = [begin('f'), said('never said'), { type: 'journal.set', fence: null, title: 'framed' }];
  test.plant(`${lines.join('\n')}\n${framed.map((event, index) => line(4 + index, event)).join('')}`);
  const log = await test.open({ cap: { maxEvents: 4 } });
  expect(typesOf(test).at(-1)).toBe('journal.void');
  for (const event of [
    { type: 'turn.completed', usage: {} },
    { type: 'turn.started' },
    { type: 'turn.completed', usage: {} },
  ]) {
    log.append({ raw: JSON.stringify(event) });
  }
  await log.maintain();
  await log.close();
  const [header, ...rest] = stored(test);
  expect(JSON.stringify(header?.event['carried'])).toContain('"kept"');
  expect(JSON.stringify(header?.event['carried'])).not.toContain('framed');
  const summary = rest.find(({ event }) => event['type'] === 'log.summary');
  expect(summary?.event['facts']).toEqual(['said']);
  expect(summary?.event['event_types']).toMatchObject({ 'item.completed': 2, 'journal.void': 1 });
  expect(openLogReader(test.fs, test.directory, 'case').state.facts.title).toBe('kept');
});
