import { openOwnedLog, transaction } from '@turnlog/log';
import {
  createTestMachine,
  FakeClock,
  ModelFileSystem,
  readNaively,
  type TestMachine,
} from '@turnlog/testkit';

const directory = '/s-1';

function benchOf(): { disk: ModelFileSystem; machine: TestMachine } {
  const clock = new FakeClock('skips');
  const disk = new ModelFileSystem({ clock });
  return { disk, machine: createTestMachine({ fs: disk, clock }) };
}

function note(mark: number, padding = 0): { raw: string } {
  return { raw: `{"type":"x.test.note","mark":${mark},"text":"${'p'.repeat(padding)}"}` };
}

/** Its text is no longer than a line may be, but with the envelope around it the line is. */
function tooLargeForItsLine(mark: number): { raw: string } {
  return note(mark, 16_777_216 - note(mark).raw.length);
}

function marksOf(disk: ModelFileSystem): readonly unknown[] {
  const { records } = readNaively(disk.contentOf(`${directory}/events.jsonl`));
  return records.map(({ event }) => event['mark'] ?? event['reason']);
}

test('the gap of a refused append outlives an append that is too large and an empty batch', async () => {
  const { disk, machine } = benchOf();
  const log = await openOwnedLog(machine, directory, 's-1', { durability: 'event' });
  log.append(note(1));
  disk.setSpace(disk.usedBytes);
  expect(() => log.append(note(2))).toThrow(expect.objectContaining({ code: 'TURNLOG_IO' }));
  disk.setSpace(null);
  expect(() => log.append(tooLargeForItsLine(3))).toThrow(
    expect.objectContaining({ code: 'TURNLOG_RECORD_TOO_LARGE' }),
  );
  log.appendBatch([]);
  log.append(note(4));
  await log.close();
  expect(marksOf(disk)).toEqual([1, 'gap', 4]);
});

test('a gap is reported once by a builder that goes on after a refused event', async () => {
  const { disk, machine } = benchOf();
  const log = await openOwnedLog(machine, directory, 's-1', { durability: 'event' });
  disk.setSpace(disk.usedBytes);
  expect(() => log.append(note(1))).toThrow(expect.objectContaining({ code: 'TURNLOG_IO' }));
  disk.setSpace(null);
  log.appendBatch((batch) => {
    expect(() => batch.add(tooLargeForItsLine(2))).toThrow(
      expect.objectContaining({ code: 'TURNLOG_RECORD_TOO_LARGE' }),
    );
    batch.add(note(3));
  });
  await log.close();
  expect(marksOf(disk)).toEqual(['gap', 3]);
});

test('a transaction that throws stores nothing, however much it appended', async () => {
  const { disk, machine } = benchOf();
  await transaction(machine, directory, 's-1', (log) => log.append(note(1)));
  const work = transaction(machine, directory, 's-1', (log) => {
    for (let mark = 2; mark < 12; mark += 1) log.append(note(mark, 20_000), { durability: 'event' });
    throw new Error('changed my mind');
  });
  await expect(work).rejects.toThrow('changed my mind');
  expect(marksOf(disk)).toEqual([1]);
  await transaction(machine, directory, 's-1', (log) => expect(log.append(note(12)).seq).toBe(2));
  expect(marksOf(disk)).toEqual([1, 12]);
});

test('a manifest that speaks of an empty log is believed in nothing', async () => {
  const { disk, machine } = benchOf();
  const first = await openOwnedLog(machine, directory, 's-1');
  first.append({ raw: '{"type":"turn.started"}' });
  first.append({ raw: '{"type":"turn.completed","usage":{}}' });
  await first.close();
  const path = `${directory}/manifest.json`;
  const honest = JSON.parse(Buffer.from(disk.contentOf(path)).toString()) as Record<string, unknown>;
  const own = honest['turnlog'] as Record<string, unknown>;
  const lying = {
    ...honest,
    persisted_file_len: 0,
    turn_count: 70,
    event_count: 700,
    turnlog: { ...own, head: null, tail: null, last_seq: 900 },
  };
  disk.plantFile(path, Buffer.from(JSON.stringify(lying)));
  const log = await openOwnedLog(machine, directory, 's-1');
  expect(log.report.scan).toBe('full');
  expect(log.report.recovered).toEqual([]);
  expect(log.append({ raw: '{"type":"turn.started"}' })).toMatchObject({ seq: 3, turn: 2 });
  await log.close();
});

test.each([
  ['first', 40],
  ['last', -20],
])('a log whose %s published line was changed in place gets a new generation', async (_name, place) => {
  const { disk, machine } = benchOf();
  const first = await openOwnedLog(machine, directory, 's-1');
  for (const mark of [1, 2, 3]) first.append(note(mark));
  await first.close();
  const generation = (): string =>
    (
      JSON.parse(Buffer.from(disk.contentOf(`${directory}/manifest.json`)).toString()) as {
        turnlog: { generation: string };
      }
    ).turnlog.generation;
  const before = generation();
  await (await openOwnedLog(machine, directory, 's-1')).close();
  expect(generation()).toBe(before);
  const content = Buffer.from(disk.contentOf(`${directory}/events.jsonl`));
  const at = place < 0 ? content.length + place : place;
  content[at] = content[at] === 0x30 ? 0x31 : 0x30;
  disk.plantFile(`${directory}/events.jsonl`, content);
  const log = await openOwnedLog(machine, directory, 's-1');
  expect(log.report.scan).toBe('full');
  await log.close();
  expect(generation()).not.toBe(before);
});
