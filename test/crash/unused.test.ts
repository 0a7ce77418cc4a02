import { openOwnedLog } from '@turnlog/log';
import { createTestMachine, FakeClock, FakeLockTable, ModelFileSystem } from '@turnlog/testkit';

test('a log that was opened and not used leaves nothing, one that was there before stays', async () => {
  const clock = new FakeClock('skips');
  const fs = new ModelFileSystem({ clock });
  const lockTable = new FakeLockTable();
  const machine = createTestMachine({ fs, clock, lockTable });
  await (await openOwnedLog(machine, '/s-1', 's-1')).close();
  expect(fs.list('/')).toEqual([]);
  fs.plantFile('/s-2/events.jsonl', new Uint8Array(0));
  await (await openOwnedLog(machine, '/s-2', 's-2')).close();
  expect(fs.list('/s-2').map(({ name }) => name)).toEqual(['events.jsonl']);
  expect([fs.openHandleCount, lockTable.holders.size, clock.waitingCount]).toEqual([0, 0, 0]);
});
