import { isTurnlogError } from '@turnlog/kernel';
import { type LogRecord, openOwnedLog } from '@turnlog/log';
import {
  createTestMachine,
  enumerateDisks,
  type Fault,
  FaultFileSystem,
  type ModelFileSystem,
} from '@turnlog/testkit';
import { type ImportReport, importVtcode } from '../src/index.js';
import { corpusBytes, hasCorpus, sayWithoutCorpus } from './stream-lines.js';
import {
  bytesOf,
  type Desk,
  makeDesk,
  plantSource,
  readerOf,
  sessionsDirectory,
  sourceDirectory,
  threadLine,
  treeOf,
  turnLines,
  vtLine,
  withoutFirstLine,
} from './vtcode-files.js';

const one = bytesOf(threadLine, turnLines('one'));
const two = bytesOf(threadLine, turnLines('one'), turnLines('two'));

function sessionsOf(desk: Desk): readonly string[] {
  return desk.fs.list(sessionsDirectory).map(({ name }) => name);
}

function importedOf(desk: Desk, sessionId: string): Readonly<Record<string, unknown>> {
  const reader = readerOf(desk, sessionId);
  const [first] = reader.readRange(1, 1);
  reader.close();
  return first?.readEvent() as unknown as Record<string, unknown>;
}

test('T-96 the same source twice is a no-op, a grown one a new session, a broken one nothing, a taken id another', async () => {
  const desk = makeDesk();
  plantSource(desk, one);
  const first = await importVtcode(desk.target, sourceDirectory);
  expect(first).toMatchObject({ state: 'new', sessionId: 'vt-1', records: 4, damageCount: 0 });
  const before = treeOf(desk.fs, sessionsDirectory);
  expect(await importVtcode(desk.target, sourceDirectory)).toMatchObject({
    state: 'unchanged',
    sessionId: 'vt-1',
  });
  expect(treeOf(desk.fs, sessionsDirectory)).toEqual(before);

  plantSource(desk, two);
  const grown = await importVtcode(desk.target, sourceDirectory);
  expect(grown.state).toBe('grown');
  expect(grown.sessionId).toMatch(/^vt-1\.c[0-9a-f]{8}$/);
  expect(importedOf(desk, String(grown.sessionId))).toMatchObject({
    source: { session_id: 'vt-1', bytes: two.length },
  });
  // Per session, never done once for all: both sources are known now, each by its own bytes.
  expect((await importVtcode(desk.target, sourceDirectory)).state).toBe('unchanged');
  plantSource(desk, one);
  expect(await importVtcode(desk.target, sourceDirectory)).toMatchObject({
    state: 'unchanged',
    sessionId: 'vt-1',
  });

  const whole = treeOf(desk.fs, sessionsDirectory);
  plantSource(desk, bytesOf('no log\n', 'at all\n'));
  await expect(importVtcode(desk.target, sourceDirectory)).rejects.toMatchObject({
    code: 'TURNLOG_LOG_UNREADABLE',
  });
  await expect(importVtcode(desk.target, '/foreign/none')).rejects.toMatchObject({
    code: 'TURNLOG_NOT_FOUND',
  });
  plantSource(desk, bytesOf(''));
  expect(await importVtcode(desk.target, sourceDirectory)).toMatchObject({ state: 'empty', sessionId: null });
  expect(treeOf(desk.fs, sessionsDirectory)).toEqual(whole);

  const other = makeDesk();
  const own = await openOwnedLog(other.machine, `${sessionsDirectory}/VT-1`, 'VT-1');
  own.append({ raw: '{"type":"thread.started","thread_id":"own"}' });
  await own.close();
  const ownTree = treeOf(other.fs, `${sessionsDirectory}/VT-1`);
  plantSource(other, one);
  const beside = await importVtcode(other.target, sourceDirectory);
  expect(beside).toMatchObject({ state: 'new' });
  expect(beside.sessionId).toMatch(/^vt-1\.c[0-9a-f]{8}$/);
  expect(treeOf(other.fs, `${sessionsDirectory}/VT-1`)).toEqual(ownTree);
  expect((await importVtcode(other.target, sourceDirectory)).state).toBe('unchanged');
});

test('a source that was rewritten is a new session, called so', async () => {
  const desk = makeDesk();
  plantSource(desk, two);
  await importVtcode(desk.target, sourceDirectory);
  plantSource(desk, bytesOf(threadLine, turnLines('two')));
  expect((await importVtcode(desk.target, sourceDirectory)).state).toBe('rewritten');
});

const odd: readonly (readonly [name: string, source: Uint8Array, damage: number])[] = [
  ['T-97 a whole log', two, 0],
  [
    'T-97 damage in the middle',
    bytesOf(threadLine, '{"schema_version":"0.1', '\n', '\0\0\n', turnLines('one')),
    2,
  ],
  [
    'T-97 blanks, carriage returns and big numbers',
    bytesOf(
      threadLine.replace('\n', '\r\n'),
      ' \n',
      vtLine({ type: 'x.y' }).replace('"x.y"', '"x.y","n":2512292042121000001,"z":-0'),
    ),
    0,
  ],
  ['T-97 a last record without its line end', two.subarray(0, two.length - 1), 0],
];

test.each(odd)('%s comes back byte for byte without line 1', async (_name, source, damage) => {
  const desk = makeDesk();
  plantSource(desk, source);
  const report = await importVtcode(desk.target, sourceDirectory);
  expect(Buffer.from(withoutFirstLine(desk, String(report.sessionId)))).toEqual(Buffer.from(source));
  const reader = readerOf(desk, String(report.sessionId));
  expect(reader.state.lifecycle.eventCount).toBe(report.records + 1);
  expect(reader.damage().filter(({ kind }) => kind !== 'blank')).toHaveLength(damage);
  reader.close();
  const { bytes, mapped, kept, refused } = report.ledger;
  expect([bytes, mapped + kept + refused]).toEqual([source.length, source.length]);
  // Blanks are no record and nothing is lost with them.
  expect([refused > 0, report.refused.length]).toEqual([damage > 0, damage]);
});

test('a torn tail goes to a file of its own, and both give the source back', async () => {
  const desk = makeDesk();
  const source = two.subarray(0, two.length - 9);
  plantSource(desk, source);
  const report = await importVtcode(desk.target, sourceDirectory);
  const directory = `${sessionsDirectory}/${report.sessionId}`;
  const [torn] = desk.fs.list(`${directory}/index`).filter(({ name }) => name.startsWith('torn-'));
  const kept = withoutFirstLine(desk, String(report.sessionId));
  const cut = desk.fs.contentOf(`${directory}/index/${torn?.name}`);
  expect(Buffer.concat([kept, cut])).toEqual(Buffer.from(source));
  expect(report).toMatchObject({ damageCount: 1, refused: [{ reason: 'torn-tail', length: cut.length }] });
  const offset = readerOf(desk, String(report.sessionId)).length;
  expect(torn?.name).toMatch(new RegExp(`^torn-${offset}-[0-9a-f]{8}\\.bin$`));
  const log = await openOwnedLog(desk.machine, directory, String(report.sessionId));
  expect(log.report.damage).toEqual([]);
  await log.close();
});

test('a byte-order mark belongs to no record and stays outside', async () => {
  const desk = makeDesk();
  plantSource(desk, Buffer.concat([Uint8Array.of(0xef, 0xbb, 0xbf), two]));
  const report = await importVtcode(desk.target, sourceDirectory);
  expect(report.source.bytes).toBe(two.length + 3);
  expect(Buffer.from(withoutFirstLine(desk, String(report.sessionId)))).toEqual(Buffer.from(two));
  expect(report.ledger.bytes).toBe(two.length + 3);
});

const ids: readonly (readonly [raw: string, expected: RegExp])[] = [
  ['fine.id-1', /^fine\.id-1$/],
  ['../../etc', /^vtcode-x[0-9a-f]{32}$/],
  ['', /^vtcode-x[0-9a-f]{32}$/],
  ['nul', /^vtcode-x[0-9a-f]{32}$/],
  ['ledger', /^vtcode-x[0-9a-f]{32}$/],
  ['a'.repeat(128), /^a{128}$/],
  ['a'.repeat(129), /^vtcode-x[0-9a-f]{32}$/],
];

test.each(ids)(
  'the foreign id %j is kept when it is one, and stands in the source as it was',
  async (raw, expected) => {
    const desk = makeDesk();
    plantSource(desk, bytesOf(vtLine({ type: 'thread.started', thread_id: raw })));
    const report = await importVtcode(desk.target, sourceDirectory);
    expect(report.sessionId).toMatch(expected);
    expect(importedOf(desk, String(report.sessionId))).toMatchObject({
      source: { kind: 'vtcode', session_id: raw },
    });
  },
);

test('turn base, versions and digest of a directory stand in the first record', async () => {
  const desk = makeDesk();
  const log = bytesOf(turnLines('two'), vtLine({ type: 'x.y' }, '0.9.0'));
  plantSource(desk, log, {
    'manifest.json': { session_id: 'm-1', persisted_file_len: log.length, retained_turn_base: 7 },
  });
  const report = await importVtcode(desk.target, sourceDirectory);
  expect(importedOf(desk, 'm-1')).toMatchObject({
    records: 4,
    damage_count: 0,
    turn_base: 7,
    schema_versions: ['0.18.0', '0.9.0'],
    source: { sha256: report.source.sha256, name: 'vt-1' },
  });
  const reader = readerOf(desk, 'm-1');
  expect([...reader.turns()].map(({ turn }) => turn)).toEqual([7]);
  reader.close();
});

test('a call without a result is counted, one with a result is not', async () => {
  const desk = makeDesk();
  const item = { type: 'tool_invocation', tool_name: 'x', status: 'in_progress' };
  const call = (id: string): string => vtLine({ type: 'item.started', item: { ...item, id } });
  plantSource(
    desk,
    bytesOf(call('a'), call('b'), vtLine({ type: 'item.completed', item: { ...item, id: 'a' } })),
  );
  expect((await importVtcode(desk.target, sourceDirectory)).unansweredCount).toBe(1);
});

test('links and devices are refused, whatever they lead to', async () => {
  const desk = makeDesk();
  desk.fs.plantFile('/foreign/log.jsonl', two);
  desk.fs.plantLink('/foreign/link.jsonl', '/foreign/log.jsonl');
  desk.fs.plantLink(`${sourceDirectory}/events.jsonl`, '/foreign/log.jsonl');
  for (const path of ['/foreign/link.jsonl', sourceDirectory]) {
    await expect(importVtcode(desk.target, path)).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
  }
  expect(sessionsOf(desk)).toEqual([]);
});

test('whichever call fails, the source is untouched and the session is there whole or not at all', async () => {
  for (let call = 1; ; call += 1) {
    const desk = makeDesk();
    plantSource(desk, two.subarray(0, two.length - 3));
    const before = treeOf(desk.fs, '/foreign');
    const fault: Fault = { call, lasting: 'once', effect: { errno: 'EIO' } };
    const faulty = new FaultFileSystem(desk.fs, fault);
    const target = { ...desk.target, environment: { ...desk.machine, fs: faulty } };
    const failure: unknown = await importVtcode(target, sourceDirectory).then(
      () => null,
      (error: unknown) => error,
    );
    if (failure !== null) expect(isTurnlogError(failure)).toBe(true);
    faulty.setFault(null);
    expect(treeOf(desk.fs, '/foreign')).toEqual(before);
    for (const name of sessionsOf(desk).filter((each) => !each.startsWith('.'))) {
      expect(Buffer.from(withoutFirstLine(desk, name)).subarray(0, 10)).toEqual(
        Buffer.from(two.subarray(0, 10)),
      );
      const reader = readerOf(desk, name);
      expect(reader.state.lifecycle.eventCount).toBe(7);
      reader.close();
    }
    const again = await importVtcode(desk.target, sourceDirectory);
    expect(['new', 'unchanged']).toContain(again.state);
    expect(sessionsOf(desk)).toEqual(['vt-1']);
    if (faulty.hitCount === 0) {
      expect(call).toBeGreaterThan(20);
      return;
    }
  }
});

test('a source that changes while it is read leaves nothing behind', async () => {
  const desk = makeDesk();
  plantSource(desk, two);
  let reads = 0;
  const fs = new Proxy(desk.fs, {
    get: (inner, name) => {
      const member: unknown = Reflect.get(inner, name);
      if (typeof member !== 'function') return member;
      if (name !== 'open') return member.bind(inner);
      return (path: string, mode: 'read' | 'append' | 'create') => {
        const file = inner.open(path, mode);
        if (!path.startsWith(sourceDirectory)) return file;
        const read = file.read.bind(file);
        file.read = (into, offset) => {
          const count = read(into, offset);
          reads += 1;
          // Once it has been counted and hashed, another program writes over it.
          if (reads === 3 && count > 0) into[0] = 0x20;
          return count;
        };
        return file;
      };
    },
  });
  const target = { ...desk.target, environment: { ...desk.machine, fs } };
  await expect(importVtcode(target, sourceDirectory)).rejects.toMatchObject({
    code: 'TURNLOG_IO',
    details: { reason: 'the source changed while it was read' },
  });
  expect(reads).toBe(3);
  expect(sessionsOf(desk)).toEqual([]);
});

/** Imports on the disk of `fs`, as a new process would. */
function importOn(fs: ModelFileSystem): Promise<ImportReport> {
  return importVtcode({ environment: createTestMachine({ fs }), sessionsDirectory }, sourceDirectory);
}

const crashed: readonly (readonly [name: string, source: Uint8Array, disksMin: number])[] = [
  ['a source with a torn tail', two.subarray(0, two.length - 3), 40],
  ['a source whose last record has no line end', two.subarray(0, two.length - 1), 20],
];

test.each(crashed)(
  '%s: killed at any step and begun again, whatever the disk has kept, there is one whole session',
  async (_name, source, disksMin) => {
    let disks = 0;
    for (let call = 0; ; call += 1) {
      const desk = makeDesk();
      plantSource(desk, source);
      desk.fs.crashAt(call);
      await importOn(desk.fs).catch((error: unknown) => error);
      const isDone = !desk.fs.isDown;
      for (const fs of enumerateDisks(desk.fs, call, { disksMax: 12 })) {
        disks += 1;
        const left = { ...desk, fs };
        const isThere = fs.status(`${sessionsDirectory}/vt-1`) !== null;
        expect(isThere || !isDone).toBe(true);
        expect((await importOn(fs)).state).toBe(isThere ? 'unchanged' : 'new');
        expect(sessionsOf(left)).toEqual(['vt-1']);
        expect(Buffer.concat([withoutFirstLine(left, 'vt-1'), tornOf(left)])).toEqual(Buffer.from(source));
      }
      if (isDone) break;
    }
    expect(disks).toBeGreaterThan(disksMin);
  },
);

/** The bytes that were cut off the end; none when nothing was. */
function tornOf({ fs }: Desk): Uint8Array {
  const index = `${sessionsDirectory}/vt-1/index`;
  const names = fs.status(index) === null ? [] : fs.list(index).map(({ name }) => name);
  const torn = names.find((name) => name.startsWith('torn-'));
  return torn === undefined ? new Uint8Array(0) : fs.contentOf(`${index}/${torn}`);
}

interface CountedEvent {
  readonly item?: { readonly type: string };
  readonly usage?: Readonly<Record<string, number>>;
}

function countsOf(records: readonly LogRecord[]): Readonly<Record<string, number>> {
  const events = records.map((record) => ({
    name: record.type,
    ...(record.readEvent() as unknown as CountedEvent),
  }));
  const count = (name: string, item?: string): number =>
    events.filter((event) => event.name === name && (item === undefined || event.item?.type === item)).length;
  const usage = events.flatMap((event) => Object.values(event.usage ?? {}));
  return {
    prompts: count('user.message'),
    calls: count('item.started', 'tool_invocation'),
    results: count('item.completed', 'tool_output'),
    messages: count('item.completed', 'agent_message'),
    updates: count('item.updated'),
    usage: usage.reduce((sum, value) => sum + value, 0),
  };
}

sayWithoutCorpus('import-vtcode');

if (hasCorpus) {
  const name = 'harness-session-vtcode-20260312T113304Z_360153-80579.jsonl';
  const rows: readonly (readonly [
    name: string,
    turns: number,
    prompts: number,
    calls: number,
    usage: number,
  ])[] = [['G-3 vtcode', 6, 0, 14, 0]];
  test.each(rows)(
    '%s: 288 records byte-equal, 15 messages, 203 updates',
    async (_name, turns, prompts, calls, usage) => {
      const desk = makeDesk();
      const bytes = corpusBytes('vtcode', name);
      desk.fs.plantFile(`/foreign/${name}`, bytes);
      const report = await importVtcode(desk.target, `/foreign/${name}`);
      expect(report).toMatchObject({ records: 288, damageCount: 0, unansweredCount: 0 });
      expect(report.sessionId).toBe('session-vtcode-20260312T113304Z_360153-80579');
      expect(Buffer.from(withoutFirstLine(desk, String(report.sessionId)))).toEqual(Buffer.from(bytes));
      const reader = readerOf(desk, String(report.sessionId));
      expect([...reader.turns()].map(({ status }) => status)).toEqual(Array(turns).fill('completed'));
      const counts = countsOf([...reader.records()]);
      reader.close();
      expect(counts).toEqual({ prompts, calls, results: calls, messages: 15, updates: 203, usage });
      expect(report.ledger).toMatchObject({ bytes: bytes.length, mapped: bytes.length, kept: 0, refused: 0 });
    },
  );
}
