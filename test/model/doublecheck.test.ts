import { openOwnedLog } from '@turnlog/log';
import {
  Attempts,
  createTestMachine,
  type EventName,
  FakeClock,
  ModelFileSystem,
  SeededRandom,
} from '@turnlog/testkit';

const names: readonly EventName[] = ['thread', 'start', 'complete', 'fail', 'end', 'note'];

/** A random life of a log, decided by the seed alone; gives every file that it left. */
async function live(seed: number): Promise<Readonly<Record<string, string>>> {
  const random = new SeededRandom(seed);
  const clock = new FakeClock('skips');
  const fs = new ModelFileSystem({ clock });
  const attempts = new Attempts();
  const machine = createTestMachine({ fs, clock, seed });
  let log = await openOwnedLog(machine, '/s-1', 's-1');
  for (let count = 0; count < 80; count += 1) {
    clock.advance(random.below(1_000));
    const choice = random.below(12);
    if (choice === 0) attempts.sync(log);
    else if (choice === 1) await attempts.commit(log);
    else if (choice === 2) attempts.flush(log);
    else if (choice === 3) {
      await attempts.close(log);
      log = await openOwnedLog(machine, '/s-1', 's-1');
    } else if (choice === 4) attempts.append(log, 'note', { key: `k-${count}` });
    else attempts.append(log, names[random.below(names.length)] ?? 'note', { padding: random.below(9_000) });
  }
  await attempts.close(log);
  const files = ['events.jsonl', 'manifest.json', 'index/turns.jsonl', 'index/keys.jsonl'];
  return Object.fromEntries(
    files
      .filter((name) => fs.status(`/s-1/${name}`) !== null)
      .map((name) => [name, Buffer.from(fs.contentOf(`/s-1/${name}`)).toString()]),
  );
}

test('the same seed twice gives the same bytes on disk', async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const first = await live(seed);
    expect(Object.keys(first)).toContain('events.jsonl');
    expect(await live(seed)).toEqual(first);
  }
  expect(await live(1)).not.toEqual(await live(2));
});
