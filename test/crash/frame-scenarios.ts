import type { CrashScenario, CrashWorld, EngineOptions, LogUnderTest } from '@turnlog/testkit';

/** Frames that are written, cut short, and closed by the next writer, at every call. */

async function openIn(world: CrashWorld, options: EngineOptions = {}): Promise<LogUnderTest> {
  const { engine, machine, directory, sessionId, attempts } = world;
  attempts.durability = options.durability ?? 'turn';
  return engine.open(machine, directory, sessionId, options);
}

/**
 * A log whose last frame of two members was cut behind so many of its lines and bytes of the next, as if the process
 * had been killed while it was written.
 */
function prepareCut(keptLines: number, keptBytes: number): (world: CrashWorld) => Promise<void> {
  return async (world) => {
    const { attempts, fs, directory } = world;
    const path = `${directory}/events.jsonl`;
    const before = await openIn(world);
    for (const name of ['thread', 'start', 'note'] as const) attempts.append(before, name);
    await attempts.close(before);
    const manifest = fs.contentOf(`${directory}/manifest.json`);
    const from = fs.contentOf(path).length;
    const log = await openIn(world);
    const known = attempts.list.length;
    attempts.appendFrame(log, 'f-cut', 2);
    await log.close();
    // None of it was promised: the kill came before the call returned.
    for (const attempt of attempts.list.slice(known)) attempt.fate = 'tried';
    fs.plantFile(`${directory}/manifest.json`, manifest);
    const content = Buffer.from(fs.contentOf(path));
    let cut = from;
    for (let line = 0; line < keptLines; line += 1) cut = content.indexOf(0x0a, cut) + 1;
    fs.plantFile(path, content.subarray(0, cut + keptBytes));
  };
}

async function openAndGoOn(world: CrashWorld): Promise<void> {
  const { attempts } = world;
  const log = await openIn(world);
  attempts.append(log, 'note');
  attempts.appendFrame(log, 'f-next', 1);
  attempts.append(log, 'complete');
  await attempts.close(log);
}

export const frameScenarios: readonly CrashScenario[] = [
  {
    name: 'frame begin and commit',
    run: async (world) => {
      const { attempts } = world;
      const log = await openIn(world, { durability: 'buffered' });
      attempts.append(log, 'start');
      attempts.appendFrame(log, 'f-1', 3);
      attempts.append(log, 'note');
      attempts.appendFrame(log, 'f-2', 1, 9_000);
      attempts.append(log, 'complete');
      await attempts.close(log);
    },
  },
  {
    name: 'frame in a shared transaction',
    run: async (world) => {
      const { attempts, engine, machine, directory, sessionId } = world;
      for (const frame of ['f-1', 'f-2']) {
        const before = attempts.list.length;
        await engine.transaction(machine, directory, sessionId, (log) => {
          attempts.append(log, 'note');
          attempts.appendFrame(log, frame, 2);
          // The promise is that of the transaction, not of the call.
          for (const attempt of attempts.list.slice(before)) attempt.fate = 'accepted';
        });
        attempts.noteDurable();
      }
    },
  },
  { name: 'frame cut behind its begin', prepare: prepareCut(1, 0), run: openAndGoOn },
  { name: 'frame cut in a member', prepare: prepareCut(1, 50), run: openAndGoOn },
  { name: 'frame cut in its commit', prepare: prepareCut(3, 90), run: openAndGoOn },
];
