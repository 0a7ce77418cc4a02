import { importSources } from '@turnlog/importers';
import { openLogReader } from '@turnlog/log';
import { createTestMachine, FakeClock, ModelFileSystem, type SeededRandom } from '@turnlog/testkit';
import { formatSamples } from '../../packages/importers/test/format-samples.js';
import { fuzz } from './fuzzing.js';
import { corpusFiles } from './inputs.js';
import { mutate, someLines } from './mutations.js';

const others = corpusFiles();

interface Source {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A machine with an empty store and one foreign file. */
function deskWith({ name, bytes }: Source) {
  const clock = new FakeClock('skips');
  const fs = new ModelFileSystem({ clock });
  for (const path of ['/foreign', '/store', '/store/sessions']) fs.plantDirectory(path);
  fs.plantFile(`/foreign/${name}`, bytes);
  const environment = createTestMachine({ fs, clock });
  const run = (final: boolean) =>
    importSources(
      { environment, sessionsDirectory: '/store/sessions' },
      { sources: [{ path: '/foreign' }], final, raw: 'reference' },
    );
  return { fs, clock, run };
}

type Desk = ReturnType<typeof deskWith>;

/** Every session as its readers see it; none but those of `verbatim` may be damaged, and no other name stands there. */
function logsIn({ fs }: Desk, verbatim: readonly (string | null)[]): Readonly<Record<string, string>> {
  const logs: Record<string, string> = {};
  for (const { name } of fs.list('/store/sessions')) {
    const reader = openLogReader(fs, `/store/sessions/${name}`, name);
    if (!verbatim.includes(name)) expect(reader.state.damage.count).toBe(0);
    for (const record of reader.records()) record.readEvent();
    reader.close();
    logs[name] = Buffer.from(fs.contentOf(`/store/sessions/${name}/events.jsonl`)).toString('latin1');
  }
  return logs;
}

/** What is asked of every import: no defect, accounts that close, whole sessions, nothing open, nothing twice. */
async function importTwice(source: Source, random: SeededRandom): Promise<void> {
  const desk = deskWith(source);
  if (random.below(3) === 0) await desk.run(false);
  const report = await desk.run(true);
  for (const { error, ledger, pendingBytes, outcome } of report.sources) {
    expect(error?.code).not.toBe('TURNLOG_INTERNAL');
    if (outcome !== 'new') continue;
    expect(ledger.mapped + ledger.kept + ledger.refused).toBe(ledger.bytes);
    expect(ledger.bytes + pendingBytes).toBe(source.bytes.length);
  }
  // A log of the contract is taken over byte for byte, with the damage that it has.
  const verbatim = report.sources
    .filter(({ format }) => format === 'vtcode')
    .map(({ sessionId }) => sessionId);
  const logs = logsIn(desk, verbatim);
  await desk.run(true);
  expect(logsIn(desk, verbatim)).toEqual(logs);
  expect(Buffer.compare(desk.fs.contentOf(`/foreign/${source.name}`), source.bytes)).toBe(0);
  expect([desk.fs.openHandleCount, desk.clock.waitingCount]).toEqual([0, 0]);
}

for (const { format, file, bytes } of formatSamples) {
  fuzz(`import of ${format}`, 60, async (random, tell) => {
    const changed = mutate(bytes, random);
    tell(changed);
    await importTwice({ name: file, bytes: changed }, random);
  });
}

fuzz('import of files that agents have left', others.length === 0 ? 1 : 150, async (random, tell) => {
  const source = others[random.below(Math.max(others.length, 1))] ?? Buffer.from('{}\n');
  const head = source.subarray(0, Math.min(source.length, source.indexOf(0x0a) + 1 || source.length));
  const changed = mutate(Buffer.concat([head, someLines(source, random, 30)]), random);
  tell(changed);
  await importTwice({ name: 'one.jsonl', bytes: changed }, random);
});
