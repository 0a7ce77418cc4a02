import { type PublishDurability, publish, temporaryNamePattern } from '@turnlog/fs';
import { isTurnlogError, limits } from '@turnlog/kernel';
import {
  CrashSignal,
  createSeededIds,
  enumerateDisks,
  type Fault,
  FaultFileSystem,
  type FaultVerb,
  ModelFileSystem,
} from '@turnlog/testkit';

const oldBytes = Buffer.from('the old content');
const newBytes = Buffer.from('the new content, which is longer');

function diskWithOldFile(spaceBytes: number | null = null): ModelFileSystem {
  const fs = new ModelFileSystem({ spaceBytes });
  fs.plantFile('/log/target', oldBytes);
  return fs;
}

function contentOf(fs: ModelFileSystem): string {
  return Buffer.from(fs.contentOf('/log/target')).toString();
}

function namesIn(fs: ModelFileSystem): readonly string[] {
  return fs.list('/log').map((entry) => entry.name);
}

const durable = { durability: 'durable', pause: () => undefined } as const;

test.each<PublishDurability>(['durable', 'visible'])('%s: the file is replaced, mode 0600', (durability) => {
  const fs = diskWithOldFile();
  publish(fs, createSeededIds(1), '/log/target', newBytes, { durability });
  expect(contentOf(fs)).toBe(newBytes.toString());
  expect(fs.status('/log/target')?.mode).toBe(0o600);
  expect(namesIn(fs)).toEqual(['target']);
});

test('durable syncs the file before the rename and the directory after it; visible syncs nothing', () => {
  const verbs = (durability: PublishDurability): readonly FaultVerb[] => {
    const fs = new FaultFileSystem(diskWithOldFile());
    publish(fs, createSeededIds(1), '/log/target', newBytes, { durability });
    return fs.journal.map((call) => call.verb);
  };
  expect(verbs('durable')).toEqual(['open', 'write', 'sync', 'close', 'rename', 'syncDirectory']);
  expect(verbs('visible')).toEqual(['open', 'write', 'close', 'rename']);
});

test('the temp file lies beside the target under a name that is swept', () => {
  const fs = new FaultFileSystem(diskWithOldFile());
  publish(fs, createSeededIds(1), '/log/target', newBytes, durable);
  const opened = fs.journal.find((call) => call.verb === 'open')?.path ?? '';
  expect(opened.slice(0, 5)).toBe('/log/');
  expect(opened.slice(5)).toMatch(temporaryNamePattern);
});

test.each([0, 1, newBytes.length - 1])(
  'a disk with room for %i bytes: old file identical, temp gone',
  (room) => {
    const fs = diskWithOldFile(oldBytes.length + room);
    expect(() => publish(fs, createSeededIds(1), '/log/target', newBytes, durable)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ errno: 'ENOSPC', outcome: 'none' }) }),
    );
    expect(contentOf(fs)).toBe(oldBytes.toString());
    expect(namesIn(fs)).toEqual(['target']);
  },
);

test.each(['EPERM', 'EACCES', 'EBUSY'])('a rename that meets %s 3 times succeeds the 4th time', (errno) => {
  const model = diskWithOldFile();
  const pauses: number[] = [];
  const fs = new FaultFileSystem(model, failing('rename', errno));
  publish(fs, createSeededIds(1), '/log/target', newBytes, {
    durability: 'durable',
    pause: (ms) => {
      pauses.push(ms);
      if (pauses.length === 3) fs.setFault(null);
    },
  });
  expect(fs.countOf('rename')).toBe(4);
  expect(pauses).toEqual([1, 2, 4]);
  expect(contentOf(model)).toBe(newBytes.toString());
});

test('a rename that never succeeds is given up within the limit; old file identical, temp gone', () => {
  const model = diskWithOldFile();
  let pausedMs = 0;
  const fs = new FaultFileSystem(model, failing('rename', 'EBUSY'));
  const options = {
    durability: 'durable',
    pause: (ms: number) => {
      pausedMs += ms;
    },
  } as const;
  expect(() => publish(fs, createSeededIds(1), '/log/target', newBytes, options)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ errno: 'EBUSY' }) }),
  );
  expect(pausedMs).toBeGreaterThan(limits.renameRetryMsMax - 101);
  expect(pausedMs).toBeLessThanOrEqual(limits.renameRetryMsMax);
  expect(contentOf(model)).toBe(oldBytes.toString());
  expect(namesIn(model)).toEqual(['target']);
});

test('another failure of the rename is not tried again', () => {
  const fs = new FaultFileSystem(diskWithOldFile(), failing('rename', 'EIO'));
  expect(() => publish(fs, createSeededIds(1), '/log/target', newBytes, durable)).toThrow();
  expect(fs.countOf('rename')).toBe(1);
});

test('I7 whichever call fails: the old or the new file whole, no temp, and the error says which', () => {
  let scenarioCount = 0;
  for (const errno of ['EIO', 'ENOSPC', 'EMFILE', 'EACCES']) {
    for (let call = 1; ; call += 1) {
      const model = diskWithOldFile();
      const fs = new FaultFileSystem(model, { call, lasting: 'once', effect: { errno } });
      const outcome = outcomeOf(() => publish(fs, createSeededIds(1), '/log/target', newBytes, durable));
      expect(namesIn(model)).toEqual(['target']);
      const isOld = outcome === 'none' || outcome === undefined;
      expect(contentOf(model)).toBe((isOld ? oldBytes : newBytes).toString());
      if (fs.hitCount === 0) break;
      scenarioCount += 1;
    }
  }
  expect(scenarioCount).toBeGreaterThan(20);
});

test('a temp file that cannot be removed is named in the error', () => {
  const fs = new FaultFileSystem(diskWithOldFile(), {
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EIO' },
    applies: ({ verb }) => verb === 'sync' || verb === 'removeFile',
  });
  expect(() => publish(fs, createSeededIds(1), '/log/target', newBytes, durable)).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({
        operation: 'sync',
        leftOver: expect.stringMatching(/^\/log\/\.t-[0-9a-f]{16}$/),
      }),
    }),
  );
});

test('after any crash a durable publish has left the old or the new file, and the new one once it returned', () => {
  let diskCount = 0;
  for (let call = 0; ; call += 1) {
    const fs = diskWithOldFile();
    fs.crashAt(call);
    const hasReturned = returns(() => publish(fs, createSeededIds(1), '/log/target', newBytes, durable));
    for (const disk of enumerateDisks(fs, call)) {
      diskCount += 1;
      const allowed = hasReturned ? [newBytes.toString()] : [oldBytes.toString(), newBytes.toString()];
      expect(allowed).toContain(contentOf(disk));
    }
    if (hasReturned) break;
  }
  expect(diskCount).toBeGreaterThan(15);
});

test('canary: without the sync of the file a crash leaves an empty target', () => {
  const contents = new Set<string>();
  for (let call = 0; call < 8; call += 1) {
    const fs = diskWithOldFile();
    fs.crashAt(call);
    returns(() => {
      publish(fs, createSeededIds(1), '/log/target', newBytes, { durability: 'visible' });
      fs.syncDirectory('/log');
    });
    for (const disk of enumerateDisks(fs, call)) contents.add(contentOf(disk));
  }
  expect(contents).toContain('');
});

function failing(verb: FaultVerb, errno: string): Fault {
  return { call: 1, lasting: 'from-then-on', effect: { errno }, applies: (call) => call.verb === verb };
}

function returns(scenario: () => void): boolean {
  try {
    scenario();
    return true;
  } catch (error) {
    if (!(error instanceof CrashSignal)) throw error;
    return false;
  }
}

function outcomeOf(scenario: () => void): unknown {
  try {
    scenario();
    return 'done';
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_IO')) throw error;
    return error.details['outcome'];
  }
}
