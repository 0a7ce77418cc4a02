import {
  CrashSignal,
  copyDisk,
  enumerateDisks,
  JudgedDisks,
  lookBeforeEachCall,
  ModelFileSystem,
} from '@turnlog/testkit';

const bytes = (text: string): Uint8Array => Buffer.from(text);

function contentsOf(fs: ModelFileSystem, at = ''): readonly string[] {
  return fs.list(at === '' ? '/' : at).flatMap(({ name, kind }) => {
    const path = `${at}/${name}`;
    if (kind === 'directory') return [`${path} ${fs.status(path)?.mode}`, ...contentsOf(fs, path)];
    if (kind === 'link') return [`${path} ${kind}`];
    const content = Buffer.from(fs.contentOf(path)).toString('latin1');
    return [`${path} ${fs.status(path)?.mode} ${content}`];
  });
}

function start(): ModelFileSystem {
  const fs = new ModelFileSystem();
  fs.plantFile('/log', bytes('one\n'));
  fs.makeDirectory('/kept');
  return copyDisk(fs);
}

/** Appends, a rename with its syncs, a file cut shorter and grown again, and one that moves to another directory. */
async function work(fs: ModelFileSystem): Promise<void> {
  const log = fs.open('/log', 'append');
  log.write(bytes('two\n'));
  log.sync();
  log.write(bytes('three\n'));
  log.truncate(10);
  log.write(bytes('four\n'));
  await Promise.resolve();
  const made = fs.open('/.t-1', 'create');
  made.write(bytes('{}'));
  made.setMode(0o640);
  made.sync();
  made.close();
  fs.rename('/.t-1', '/kept/manifest');
  fs.syncDirectory('/kept');
  fs.removeFile('/log');
  log.close();
}

test('what is looked at before a call is what a machine leaves that stops at that call', async () => {
  const stopped: (readonly string[])[][] = [];
  for (let call = 0; ; call += 1) {
    const fs = start();
    fs.crashAt(call);
    await work(fs).catch((error: unknown) => expect(error).toBeInstanceOf(CrashSignal));
    if (!fs.isDown) break;
    stopped.push([...enumerateDisks(fs, 5)].map((disk) => contentsOf(disk)));
  }
  const fs = start();
  const looked: ModelFileSystem[][] = [];
  const calls: number[] = [];
  await lookBeforeEachCall(
    fs,
    () => work(fs),
    (call) => {
      calls.push(call);
      looked.push([...enumerateDisks(fs, 5)]);
    },
  );
  // Read when all is over: what came later has changed none of them.
  expect(looked.map((disks) => disks.map((disk) => contentsOf(disk)))).toEqual(stopped);
  expect(calls).toEqual(stopped.map((_, at) => at));
  expect(stopped.length).toBeGreaterThan(10);
});

test('work that fails is not hidden, and nobody looks any more', async () => {
  const fs = start();
  let looks = 0;
  const failing = async (): Promise<void> => {
    fs.makeDirectory('/a');
    throw new RangeError('of the scenario');
  };
  await expect(lookBeforeEachCall(fs, failing, () => (looks += 1))).rejects.toThrow(RangeError);
  fs.makeDirectory('/b');
  expect(looks).toBe(1);
});

describe('disks that were judged', () => {
  async function countOf(
    disks: readonly ModelFileSystem[],
    promised: readonly string[] = [],
  ): Promise<number> {
    const judged = new JudgedDisks();
    let judgements = 0;
    for (const [at, disk] of disks.entries()) {
      const found = await judged.judge(disk, promised[at] ?? '', async () => {
        judgements += 1;
        return [`problem of ${contentsOf(disk).join()}`];
      });
      expect(found).toEqual([`problem of ${contentsOf(disk).join()}`]);
    }
    expect(judged.size).toBe(judgements);
    return judgements;
  }

  test('equal ones are judged once, whatever numbers their inodes have, and what was found is told each time', async () => {
    const other = new ModelFileSystem();
    other.makeDirectory('/gone');
    other.removeDirectory('/gone');
    other.plantFile('/log', bytes('one\n'));
    other.setTimes('/log', 5, 5);
    const one = start();
    one.removeDirectory('/kept');
    one.setTimes('/log', 5, 5);
    expect(one.status('/log')?.inode).not.toBe(other.status('/log')?.inode);
    expect(await countOf([one, copyDisk(one), other])).toBe(1);
  });

  test.each<[string, (fs: ModelFileSystem) => void]>([
    [
      'one byte',
      (fs) => {
        const writtenMs = fs.status('/log')?.modifiedMs ?? 0;
        fs.open('/log', 'append').write(bytes('x'));
        fs.setTimes('/log', writtenMs, writtenMs);
      },
    ],
    ['a mode', (fs) => fs.setMode('/log', 0o640)],
    ['a time', (fs) => fs.setTimes('/log', 1, 1)],
    ['a name', (fs) => fs.rename('/log', '/Log')],
    ['an empty directory more', (fs) => fs.makeDirectory('/kept/more')],
    ['a link', (fs) => fs.plantLink('/kept/link', '/log')],
  ])('%s makes another disk', async (_name, change) => {
    const changed = start();
    change(changed);
    expect(await countOf([start(), changed, copyDisk(changed)])).toBe(2);
  });

  test('the same disk is judged anew when other things were promised', async () => {
    expect(await countOf([start(), start(), start()], ['a', 'b', 'a'])).toBe(2);
  });
});
