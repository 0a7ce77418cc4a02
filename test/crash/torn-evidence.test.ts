import { openOwnedLog } from '@turnlog/log';
import { copyDisk, createTestMachine, enumerateDisks, FakeClock, ModelFileSystem } from '@turnlog/testkit';

const line =
  '{"schema_version":"0.18.0","seq":1,"ts":"2026-10-05T08:00:00.000Z","event":{"type":"x.test.note"}}\n';
const fragment = '{"schema_version":"0.18.0","seq":2,"ts":"2026-10';

function tornDisk(): ModelFileSystem {
  const fs = new ModelFileSystem({ clock: new FakeClock() });
  fs.plantDirectory('/s-1');
  fs.plantFile('/s-1/events.jsonl', Buffer.from(line + fragment));
  return fs;
}

function contentsOf(fs: ModelFileSystem): readonly string[] {
  const torn =
    fs.status('/s-1/index') === null ? [] : fs.list('/s-1/index').map(({ name }) => `/s-1/index/${name}`);
  return ['/s-1/events.jsonl', ...torn].map((path) => Buffer.from(fs.contentOf(path)).toString());
}

test('I6 bytes cut from a torn tail are in the log or beside it, whole, whenever the recovery is stopped', async () => {
  let cutCount = 0;
  for (let call = 0; ; call += 1) {
    const fs = tornDisk();
    fs.crashAt(call);
    await openOwnedLog(createTestMachine({ fs, clock: new FakeClock() }), '/s-1', 's-1').catch(
      () => undefined,
    );
    for (const disk of enumerateDisks(fs, call, { disksMax: 500 })) {
      const contents = contentsOf(disk);
      expect([call, contents.some((text) => text.includes(fragment))]).toEqual([call, true]);
      if (!contents[0]?.includes(fragment)) cutCount += 1;
    }
    if (!fs.isDown) break;
  }
  expect(cutCount).toBeGreaterThanOrEqual(5);
  const fs = copyDisk(tornDisk());
  const log = await openOwnedLog(createTestMachine({ fs, clock: new FakeClock() }), '/s-1', 's-1');
  const [report] = log.report.recovered;
  expect(report).toMatchObject({
    reason: 'torn_tail',
    damage: [{ offset: line.length, length: fragment.length }],
  });
  await log.close();
});
