import { inspect } from 'node:util';
import { createRedactor, openRedactionKey, type RedactionKeyPlace } from '@turnlog/store';
import {
  CrashSignal,
  createSeededIds,
  createTestMachine,
  enumerateDisks,
  FaultFileSystem,
  ModelFileSystem,
} from '@turnlog/testkit';

const root = '/root';
const path = '/root/redaction.key';

function disk(): ModelFileSystem {
  const fs = new ModelFileSystem();
  fs.plantDirectory(root, { mode: 0o700 });
  return fs;
}

function place(
  fs: RedactionKeyPlace['fs'],
  seed = 1,
  pause: (ms: number) => void = () => undefined,
): RedactionKeyPlace {
  return { fs, ids: createSeededIds(seed), ownership: createTestMachine().ownership, pause };
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('the first need makes 32 random bytes of mode 0600, every later one reads them', () => {
  const fs = disk();
  const made = openRedactionKey(place(fs), root);
  expect(made.scope).toBe('store');
  expect(hexOf(made.reveal())).toBe(createSeededIds(1).randomHex(32));
  expect(fs.status(path)).toMatchObject({ kind: 'file', mode: 0o600, size: 32 });
  expect(hexOf(openRedactionKey(place(fs, 2), root).reveal())).toBe(hexOf(made.reveal()));
  expect(fs.list(root).map(({ name }) => name)).toEqual(['redaction.key']);
  expect(fs.openHandleCount).toBe(0);
});

test('it is created under its own name alone and made durable, name and all', () => {
  const fs = new FaultFileSystem(disk());
  openRedactionKey(place(fs), root);
  const changing = fs.journal.filter(({ verb }) => verb !== 'status');
  expect(changing.map((call) => call.verb)).toEqual(['open', 'write', 'sync', 'close', 'syncDirectory']);
});

test('after a crash at any step: the key, or one that the next need makes whole; and then it stays', () => {
  let diskCount = 0;
  for (let call = 0; ; call += 1) {
    const fs = disk();
    fs.syncDirectory('/');
    const before = fs.mutationCount;
    fs.crashAt(before + call);
    const finished = attempt(fs);
    for (const left of enumerateDisks(fs, call)) {
      diskCount += 1;
      const first = openRedactionKey(place(left, 2), root);
      const second = openRedactionKey(place(left, 3), root);
      expect(first.scope).toBe('store');
      expect(hexOf(second.reveal())).toBe(hexOf(first.reveal()));
      if (finished !== null) expect(hexOf(first.reveal())).toBe(finished);
    }
    if (finished !== null) break;
  }
  expect(diskCount).toBeGreaterThan(10);
});

function attempt(fs: ModelFileSystem): string | null {
  try {
    return hexOf(openRedactionKey(place(fs), root).reveal());
  } catch (error) {
    if (error instanceof CrashSignal) return null;
    throw error;
  }
}

test.each(['EROFS', 'EACCES', 'ENOSPC'])(
  'where creating meets %s it is a key of this process, and nothing stays',
  (errno) => {
    const model = disk();
    const fs = new FaultFileSystem(model, {
      call: 1,
      lasting: 'from-then-on',
      effect: { errno },
      applies: ({ verb }) => verb === 'write' || (verb === 'open' && errno !== 'ENOSPC'),
    });
    const key = openRedactionKey(place(fs), root);
    expect(key.scope).toBe('process');
    expect(key.failure?.details).toMatchObject({ errno });
    expect(key.reveal()).toHaveLength(32);
    expect(model.list(root)).toEqual([]);
    expect(hexOf(openRedactionKey(place(fs, 2), root).reveal())).not.toBe(hexOf(key.reveal()));
  },
);

test('where there is no root yet it is a key of this process', () => {
  const fs = new ModelFileSystem();
  expect(openRedactionKey(place(fs), root).scope).toBe('process');
  expect(fs.list('/')).toEqual([]);
});

test('who finds the name taken in the middle of creating reads what the other one wrote', () => {
  const fs = disk();
  const other = Buffer.alloc(32, 9);
  const racing = new FaultFileSystem(fs, null);
  const status = racing.status.bind(racing);
  let looks = 0;
  racing.status = (name) => {
    looks += 1;
    const found = status(name);
    if (looks === 1) fs.plantFile(path, other, { mode: 0o600 });
    return found;
  };
  expect(hexOf(openRedactionKey(place(racing), root).reveal())).toBe(hexOf(other));
  expect(hexOf(fs.contentOf(path))).toBe(hexOf(other));
});

test('a key that another process is still writing is waited for; one that stays short is replaced', () => {
  const fs = disk();
  fs.plantFile(path, Buffer.alloc(0), { mode: 0o600 });
  let pauses = 0;
  const patient = place(fs, 1, () => {
    pauses += 1;
    if (pauses !== 3) return;
    const file = fs.open(path, 'append');
    file.write(Buffer.alloc(32, 5));
    file.close();
  });
  expect(hexOf(openRedactionKey(patient, root).reveal())).toBe('05'.repeat(32));

  const torn = disk();
  torn.plantFile(path, Buffer.alloc(7, 5), { mode: 0o600 });
  const key = openRedactionKey(place(torn), root);
  expect(key.scope).toBe('store');
  expect(hexOf(torn.contentOf(path))).toBe(hexOf(key.reveal()));
});

test('a key that others may read is closed to them', () => {
  const fs = disk();
  fs.plantFile(path, Buffer.alloc(32, 5), { mode: 0o644 });
  openRedactionKey(place(fs), root);
  expect(fs.status(path)?.mode).toBe(0o600);
});

test.each([
  ['a link', (fs: ModelFileSystem) => fs.plantLink(path, '/elsewhere')],
  ["somebody else's file", (fs: ModelFileSystem) => fs.plantFile(path, Buffer.alloc(32, 5), { uid: 7 })],
])('%s in its place is refused', (_name, plant) => {
  const fs = disk();
  fs.plantFile('/elsewhere', Buffer.alloc(32, 5));
  plant(fs);
  expect(() => openRedactionKey(place(fs), root)).toThrow(
    expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' }),
  );
});

test('it is in no output: not of inspection, of JSON, of a failure, of a redactor', () => {
  const fs = new FaultFileSystem(disk(), {
    call: 1,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb }) => verb === 'write',
  });
  const key = openRedactionKey(place(fs), root);
  expect(key.failure).not.toBeNull();
  const redactor = createRedactor({ key: key.reveal() });
  const shown = [
    inspect(key, { depth: 9, showHidden: true }),
    JSON.stringify(key),
    String(key),
    inspect(redactor, { depth: 9 }),
  ].join('\n');
  expect(shown).not.toContain(hexOf(key.reveal()));
  expect(shown).not.toContain([...key.reveal().subarray(0, 3)].join(', '));
});
