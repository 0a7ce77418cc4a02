import { openOwnedLog } from '@turnlog/log';
import { FaultFileSystem } from '@turnlog/testkit';
import { importVtcode, openForeign } from '../src/index.js';
import {
  bytesOf,
  makeDesk,
  plantSource,
  sessionsDirectory,
  sourceDirectory,
  threadLine,
  treeOf,
  turnLines,
  vtLine,
  withoutFirstLine,
} from './vtcode-files.js';

const late = { raw: '{"type":"error","message":"late"}' };
const thirdTurn = turnLines('three');
const inTurn = vtLine({ type: 'turn.started' }) + vtLine({ type: 'plan.delta' });

function entry(turn: number, end: number): object {
  return { turn_number: turn, start_offset: 0, end_offset: end, event_count: 3, ts: 0 };
}

interface Row {
  readonly name: string;
  readonly log: Uint8Array;
  readonly others: Readonly<Record<string, object>>;
  readonly turns: readonly string[];
  readonly isCertain: boolean;
}

const three = bytesOf(thirdTurn).length;

const rows: readonly Row[] = [
  {
    name: 'T-95 a directory that is in a turn',
    log: bytesOf(threadLine, turnLines('one'), inTurn),
    others: {
      'manifest.json': {
        session_id: 'vt-1',
        in_turn: true,
        turn_count: 1,
        persisted_file_len: bytesOf(threadLine, turnLines('one'), inTurn).length,
        retained_turn_base: 1,
      },
    },
    turns: ['1 completed', '2 open'],
    isCertain: true,
  },
  {
    name: 'T-95 a manifest without base beside an index that holds only turn 3',
    log: bytesOf(thirdTurn, turnLines('four')),
    others: {
      'manifest.json': { session_id: 'vt-1', persisted_file_len: 1 },
      'index/turns.json': { entries: [entry(3, three)] },
    },
    turns: ['3 completed', '4 completed'],
    isCertain: false,
  },
  {
    name: 'T-95 the marker of a rewrite that led to this length',
    log: bytesOf(turnLines('two'), thirdTurn),
    others: {
      'index/pending-cap-rewrite.json': {
        previous_file_len: 10_000,
        new_file_len: bytesOf(turnLines('two'), thirdTurn).length,
        retained_turn_base: 2,
      },
      'index/turns.json': { entries: [entry(1, 10)] },
    },
    turns: ['2 completed', '3 completed'],
    isCertain: true,
  },
  {
    name: 'T-95 an index of only turn 3 and no manifest',
    log: bytesOf(thirdTurn),
    others: { 'index/turns.json': { entries: [entry(3, three)] } },
    turns: ['3 completed'],
    isCertain: false,
  },
];

test.each(rows)('$name is read with the right numbers and left as it is', (row) => {
  const desk = makeDesk();
  plantSource(desk, row.log, row.others);
  desk.fs.plantFile(`${sourceDirectory}/session.lock`, bytesOf('pid 1'));
  const before = treeOf(desk.fs, sourceDirectory);
  const changesBefore = desk.fs.mutationCount;
  const foreign = openForeign(desk.fs, sourceDirectory);
  const turns = [...foreign.reader.turns()];
  expect(turns.map(({ turn, status }) => `${turn} ${status}`)).toEqual(row.turns);
  expect(foreign.turnBase).toEqual({ value: turns[0]?.turn, isCertain: row.isCertain });
  for (const { turn, events } of turns) expect([...foreign.reader.readTurn(turn)]).toHaveLength(events);
  expect(() => [...foreign.reader.readTurn((turns[0]?.turn ?? 0) - 1)]).toThrow();
  foreign.close();
  expect(desk.fs.mutationCount).toBe(changesBefore);
  expect(treeOf(desk.fs, sourceDirectory)).toEqual(before);
  expect(desk.fs.openHandleCount).toBe(0);
});

const weaker: readonly (readonly [name: string, others: Readonly<Record<string, object>>, value: number])[] =
  [
    ['an old manifest', { 'manifest.json': { persisted_file_len: 7, retained_turn_base: 5 } }, 5],
    [
      'a marker of another length',
      { 'index/pending-cap-rewrite.json': { previous_file_len: 9, new_file_len: 3, retained_turn_base: 5 } },
      1,
    ],
    [
      'a marker that grew',
      {
        'index/pending-cap-rewrite.json': {
          previous_file_len: 1,
          new_file_len: three,
          retained_turn_base: 5,
        },
      },
      1,
    ],
    ['an index beyond the file', { 'index/turns.json': { entries: [entry(3, three + 1)] } }, 1],
    ['an index out of order', { 'index/turns.json': { entries: [entry(3, 5), entry(2, 5)] } }, 1],
    ['an index whose numbers fall', { 'index/turns.json': { entries: [entry(3, 0), entry(2, 5)] } }, 1],
    [
      'an index before an old manifest',
      {
        'index/turns.json': { entries: [entry(3, 5)] },
        'manifest.json': { persisted_file_len: 7, retained_turn_base: 5 },
      },
      3,
    ],
    ['nothing', {}, 1],
  ];

test.each(weaker)('the first turn by %s is a guess', (_name, others, value) => {
  const desk = makeDesk();
  plantSource(desk, bytesOf(thirdTurn), others);
  const foreign = openForeign(desk.fs, sourceDirectory);
  expect(foreign.turnBase).toEqual({ value, isCertain: false });
  foreign.close();
});

test('what is appended after open is not seen', () => {
  const desk = makeDesk();
  plantSource(desk, bytesOf(threadLine, turnLines('one')));
  const foreign = openForeign(desk.fs, sourceDirectory);
  const file = desk.fs.open(`${sourceDirectory}/events.jsonl`, 'append');
  file.write(bytesOf(turnLines('two')));
  file.close();
  expect([...foreign.reader.records()]).toHaveLength(4);
  foreign.close();
});

test('a link in place of the directory, the log or its metadata is refused', () => {
  const desk = makeDesk();
  plantSource(desk, bytesOf(threadLine));
  desk.fs.plantLink('/foreign/alias', sourceDirectory);
  const unsafe = expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' });
  const watched = new FaultFileSystem(desk.fs);
  expect(() => openForeign(watched, '/foreign/alias')).toThrow(unsafe);
  // Nothing behind the link was looked at.
  expect(watched.journal.map((call) => call.path)).toEqual(['/foreign/alias']);
  desk.fs.plantLink(`${sourceDirectory}/manifest.json`, '/foreign/elsewhere');
  expect(() => openForeign(desk.fs, sourceDirectory)).toThrow(unsafe);
  expect(() => openForeign(desk.fs, '/foreign/none')).toThrow(
    expect.objectContaining({ code: 'TURNLOG_NOT_FOUND' }),
  );
});

test('T-98 lines without seq and ts are numbered by position, have no time, and appends go on with count + 1', async () => {
  const desk = makeDesk();
  const source = bytesOf(threadLine, turnLines('one'));
  plantSource(desk, source);
  const foreign = openForeign(desk.fs, sourceDirectory);
  expect([...foreign.reader.records()].map(({ seq, ts }) => [seq, ts])).toEqual([
    [1, null],
    [2, null],
    [3, null],
    [4, null],
  ]);
  foreign.close();
  const report = await importVtcode(desk.target, sourceDirectory);
  const directory = `${sessionsDirectory}/${report.sessionId}`;
  const log = await openOwnedLog(desk.machine, directory, String(report.sessionId));
  expect(log.append(late).seq).toBe(6);
  await log.close();
  expect(Buffer.from(withoutFirstLine(desk, String(report.sessionId))).subarray(0, source.length)).toEqual(
    Buffer.from(source),
  );
  const plain = '/store/sessions/plain';
  desk.fs.plantDirectory(plain, { mode: 0o700 });
  desk.fs.plantFile(`${plain}/events.jsonl`, source, { mode: 0o600 });
  const own = await openOwnedLog(desk.machine, plain, 'plain');
  expect(own.append(late).seq).toBe(5);
  await own.close();
});
