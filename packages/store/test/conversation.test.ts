import { limits } from '@turnlog/kernel';
import { type ConversationPiece, conversation, type Store } from '@turnlog/store';
import { line, TestStore } from './support.js';

/** A session of `count` records, the first of which says what it was forked from. */
function plantSession(machine: TestStore, id: string, count: number, forked?: object, from = 1): void {
  const run = { type: 'run.started', program: 'p', cwd: '/srv', ...(forked ? { forked_from: forked } : {}) };
  const lines = Array.from({ length: count }, (_, index) => {
    const event = index === 0 && from === 1 ? run : { type: 'error', message: `${id} ${index + from}` };
    return line(index + from, event);
  });
  machine.plant(id, lines);
}

function shown(piece: ConversationPiece): string {
  if (piece.kind === 'record') return `${piece.sessionId} ${piece.record.seq}`;
  const { reason, namedBy, parent, threadId, fromSeq, toSeq, code } = piece;
  const thread = threadId === null ? '' : ` thread ${threadId}`;
  return `${reason}: ${parent}${thread} ${fromSeq}..${toSeq} by ${namedBy}${code === null ? '' : ` ${code}`}`;
}

function read(store: Store, id: string): readonly string[] {
  return [...conversation(store, id)].map(shown);
}

/** Everything below the root with its content. */
function snapshot(machine: TestStore): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = (path: string): void => {
    for (const entry of machine.disk.list(path)) {
      const below = `${path}/${entry.name}`;
      found[below] = `${entry.kind} ${machine.disk.status(below)?.modifiedMs}`;
      if (entry.kind === 'directory') walk(below);
      else if (entry.kind === 'file') {
        found[below] += Buffer.from(machine.disk.contentOf(below)).toString('base64');
      }
    }
  };
  walk(machine.root);
  return found;
}

const range = (id: string, from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `${id} ${from + index}`);

describe('C-61 the conversation of a fork', () => {
  test('C-61 the shared part is read first, up to and including the seq of the fork, and nothing is copied', async () => {
    const machine = new TestStore();
    plantSession(machine, 'parent', 6);
    plantSession(machine, 'child', 3, { session: 'parent', seq: 4 });
    const before = snapshot(machine);
    const store = await machine.open();
    expect(read(store, 'child')).toEqual([...range('parent', 1, 4), ...range('child', 1, 3)]);
    expect(read(store, 'parent')).toEqual(range('parent', 1, 6));
    const [first] = conversation(store, 'child');
    expect(first?.kind === 'record' ? Buffer.from(first.record.bytes).toString() : null).toBe(
      Buffer.from(machine.disk.contentOf(`${machine.session('parent')}/events.jsonl`))
        .toString()
        .split('\n')[0],
    );
    expect(snapshot(machine)).toEqual(before);
    expect(machine.disk.openHandleCount).toBe(0);
  });

  test('C-61 a fork of a fork begins with what its parent shared, cut at each fork', async () => {
    const machine = new TestStore();
    plantSession(machine, 'first', 9);
    plantSession(machine, 'second', 5, { session: 'first', seq: 2 });
    plantSession(machine, 'third', 2, { session: 'second', seq: 3 });
    plantSession(machine, 'other', 1, { session: 'first', seq: 9 });
    const store = await machine.open();
    expect(read(store, 'third')).toEqual([
      ...range('first', 1, 2),
      ...range('second', 1, 3),
      ...range('third', 1, 2),
    ]);
    expect(read(store, 'other')).toEqual([...range('first', 1, 9), 'other 1']);
  });

  test('C-61 a fork that writers of ours made, whose parent goes on, keeps its part', async () => {
    const machine = new TestStore();
    const store = await machine.open();
    const parent = await store.open('parent');
    parent.append({ type: 'turn.started' });
    const { seq } = parent.append({ type: 'error', message: 'shared' });
    const child = await store.open('child');
    child.append({ type: 'run.started', program: 'p', cwd: '/srv', forked_from: { session: 'parent', seq } });
    await child.close();
    parent.append({ type: 'error', message: 'later' });
    await parent.close();
    expect(read(store, 'child')).toEqual(['parent 1', 'parent 2', 'child 1']);
  });

  const nothingMore = (): void => undefined;
  const missing: readonly (readonly [
    title: string,
    forked: object,
    expected: readonly string[],
    plant: (machine: TestStore) => void,
  ])[] = [
    [
      'no such session',
      { session: 'gone', seq: 4 },
      ['absent: gone 1..4 by child TURNLOG_NOT_FOUND'],
      nothingMore,
    ],
    [
      'no such session, with its thread',
      { session: 'gone', seq: 4, thread_id: 't-1' },
      ['absent: gone thread t-1 1..4 by child TURNLOG_NOT_FOUND'],
      nothingMore,
    ],
    [
      'no session named',
      { thread_id: 't-1', records: 7 },
      ['unnamed: null thread t-1 null..null by child'],
      nothingMore,
    ],
    [
      'no seq, as an import has it',
      { session: 'parent', thread_id: 't-1', records: 7, last_id: 'x' },
      ['no-end: parent thread t-1 null..null by child'],
      nothingMore,
    ],
    [
      'a seq that is none',
      { session: 'parent', seq: 0 },
      ['no-end: parent null..null by child'],
      nothingMore,
    ],
    [
      'a seq of another form',
      { session: 'parent', seq: '4' },
      ['no-end: parent null..null by child'],
      nothingMore,
    ],
    ['nothing said of it', {}, ['unnamed: null null..null by child'], nothingMore],
    [
      'a hostile name',
      { session: '../../etc', seq: 4 },
      ['unreadable: ../../etc 1..4 by child TURNLOG_INVALID_SESSION_ID'],
      nothingMore,
    ],
    [
      'a parent of which no record can be read',
      { session: 'broken', seq: 4 },
      ['unreadable: broken 1..4 by child TURNLOG_LOG_UNREADABLE'],
      (machine) => machine.plant('broken', ['not json\n']),
    ],
    [
      'a parent that is a link',
      { session: 'link', seq: 4 },
      ['unreadable: link 1..4 by child TURNLOG_UNSAFE_PATH'],
      (machine) => machine.disk.plantLink(machine.session('link'), machine.session('parent')),
    ],
    [
      'a parent without the seq',
      { session: 'parent', seq: 8 },
      [...range('parent', 1, 6), 'short: parent 7..8 by child'],
      nothingMore,
    ],
    [
      'a parent without any record',
      { session: 'empty', seq: 2 },
      ['short: empty 1..2 by child'],
      (machine) => machine.plant('empty', []),
    ],
    [
      'a parent whose first records have left its log',
      { session: 'late', seq: 6 },
      ['gone: late 1..4 by child', ...range('late', 5, 6)],
      (machine) => plantSession(machine, 'late', 4, undefined, 5),
    ],
    [
      'a parent whose shared records have all left its log',
      { session: 'late', seq: 3 },
      ['gone: late 1..3 by child'],
      (machine) => plantSession(machine, 'late', 4, undefined, 5),
    ],
  ];

  test.each(missing)(
    'C-61 an absent part is named, and nothing stands in for it: %s',
    async (_title, forked, expected, plant) => {
      const machine = new TestStore();
      plantSession(machine, 'parent', 6);
      plant(machine);
      plantSession(machine, 'child', 2, forked);
      const before = snapshot(machine);
      const store = await machine.open();
      expect(read(store, 'child')).toEqual([...expected, 'child 1', 'child 2']);
      // The same part, seen from a fork of the fork.
      plantSession(machine, 'grandchild', 1, { session: 'child', seq: 1 });
      expect(read(store, 'grandchild')).toEqual([...expected, 'child 1', 'grandchild 1']);
      machine.disk.removeFile(`${machine.session('grandchild')}/events.jsonl`);
      machine.disk.removeDirectory(machine.session('grandchild'));
      expect(snapshot(machine)).toEqual(before);
      expect(machine.disk.openHandleCount).toBe(0);
    },
  );

  test('C-61 forks that lead back are followed once, and the place is named', async () => {
    const machine = new TestStore();
    plantSession(machine, 'a', 2, { session: 'b', seq: 2 });
    plantSession(machine, 'b', 2, { session: 'c', seq: 1 });
    plantSession(machine, 'c', 2, { session: 'b', seq: 1 });
    plantSession(machine, 'self', 1, { session: 'self', seq: 1 });
    const store = await machine.open();
    expect(read(store, 'a')).toEqual(['loop: b 1..1 by c', 'c 1', 'b 1', 'b 2', 'a 1', 'a 2']);
    expect(read(store, 'self')).toEqual(['loop: self 1..1 by self', 'self 1']);
  });

  test('C-61 more forks than are followed: the nearest ones are, and the next is named', async () => {
    const machine = new TestStore();
    const count = limits.forksFollowedMax + 2;
    for (let index = 0; index < count; index += 1) {
      plantSession(machine, `s${index}`, 1, index === 0 ? undefined : { session: `s${index - 1}`, seq: 1 });
    }
    const store = await machine.open();
    const followed = Array.from({ length: limits.forksFollowedMax + 1 }, (_, index) => `s${index + 1} 1`);
    expect(read(store, `s${count - 1}`)).toEqual(['too-long: s0 1..1 by s1', ...followed]);
    expect(read(store, `s${count - 2}`)).toEqual([...range('s0', 1, 1), ...followed.slice(0, -1)]);
  });

  test('C-61 a parent that goes away or fails while it is read is named from there on', async () => {
    const machine = new TestStore();
    plantSession(machine, 'parent', 2_000);
    plantSession(machine, 'child', 1, { session: 'parent', seq: 2_000 });
    const store = await machine.open();
    const failing = conversation(store, 'child');
    expect(shown(failing.next().value as ConversationPiece)).toBe('parent 1');
    machine.fs.setFault({
      call: 1,
      lasting: 'once',
      effect: { errno: 'EIO' },
      applies: ({ verb, path }) => verb === 'read' && path.includes('/parent/'),
    });
    const rest = [...failing].map(shown);
    const failedAt = rest.findIndex((text) => text.startsWith('unreadable'));
    expect(rest[failedAt]).toBe(`unreadable: parent ${failedAt + 2}..2000 by child TURNLOG_IO`);
    expect(rest.slice(failedAt + 1)).toEqual(['child 1']);
    machine.fs.setFault({
      call: 2,
      lasting: 'from-then-on',
      effect: { errno: 'EIO' },
      applies: ({ verb, path }) => verb === 'open' && path.includes('/parent/events'),
    });
    expect(read(store, 'child')).toEqual(['unreadable: parent 1..2000 by child TURNLOG_IO', 'child 1']);
    expect(machine.disk.openHandleCount).toBe(0);
  });

  test('C-61 errors of the session itself are errors, and a reader that stops early leaves nothing open', async () => {
    const machine = new TestStore();
    plantSession(machine, 'parent', 3);
    plantSession(machine, 'child', 3, { session: 'parent', seq: 3 });
    const store = await machine.open();
    expect(() => read(store, 'none')).toThrow(expect.objectContaining({ code: 'TURNLOG_NOT_FOUND' }));
    expect(() => read(store, '../up')).toThrow(
      expect.objectContaining({ code: 'TURNLOG_INVALID_SESSION_ID' }),
    );
    for (const piece of conversation(store, 'child')) {
      if (shown(piece) === 'parent 2') break;
    }
    expect(machine.disk.openHandleCount).toBe(0);
  });
});
