import { gunzipSync } from 'node:zlib';
import { isTurnlogError, sha256Hex } from '@turnlog/kernel';
import { createTestMachine, FakeLockTable, FaultFileSystem, SeededRandom } from '@turnlog/testkit';
import { type BatchReport, findSources, type SourceReport } from '../src/index.js';
import { type FormatSample, formatSamples, rowsOf } from './format-samples.js';
import {
  contentsOf,
  type Event,
  eventsOf,
  importAll,
  inPieces,
  lineEnds,
  logsOf,
  makeThreadDesk,
  plantFiles,
  sessionsOf,
  storeSessions,
  type ThreadDesk,
} from './thread-files.js';
import { forgetMapping } from './thread-samples.js';

const every = rowsOf('lines', 'log', 'document');

async function imported(sample: FormatSample, bytes: Uint8Array = sample.bytes): Promise<ThreadDesk> {
  const desk = makeThreadDesk();
  plantFiles(desk, { [sample.file]: bytes });
  await importAll(desk);
  return desk;
}

function onlyOf({ sources }: BatchReport): SourceReport {
  const [source, ...others] = sources;
  if (source === undefined || others.length > 0) throw new Error(`${sources.length} sources`);
  return source;
}

test('each of these samples is of the format that it stands for', () => {
  for (const { format, file, bytes } of formatSamples) {
    const desk = makeThreadDesk();
    plantFiles(desk, { [file]: bytes });
    const { found } = findSources(desk.fs, { sources: [{ path: '/foreign' }] });
    expect(found).toEqual([{ path: `/foreign/${file}`, format }]);
  }
});

test.each(every)(
  'G-4 %s: nothing refused, the account closes, the bytes are in the store',
  async (_name, sample) => {
    const desk = makeThreadDesk();
    plantFiles(desk, { [sample.file]: sample.bytes });
    const source = onlyOf(await importAll(desk));
    const { mapped, kept, refused } = source.ledger;
    expect([source.error, mapped + kept + refused, refused]).toEqual([null, sample.bytes.length, 0]);
    const events = eventsOf(desk, String(source.sessionId));
    const parts = events
      .filter(({ type }) => type === 'run.imported')
      .flatMap(({ raw }) => raw as readonly Event[]);
    const copy = parts.map(({ asset }) =>
      gunzipSync(desk.fs.contentOf(`/store/assets/${String(asset).slice(0, 2)}/${String(asset)}`)),
    );
    const log = desk.fs.contentOf(`${storeSessions}/${String(source.sessionId)}/events.jsonl`);
    const stored = sample.growth === 'log' ? log.subarray(log.indexOf(0x0a) + 1) : Buffer.concat(copy);
    expect(sha256Hex(stored)).toBe(sha256Hex(sample.bytes));
  },
);

test.each(every)(
  'G-5 %s: a second pass changes no byte, with what is remembered, without and of other rules',
  async (_name, sample) => {
    const desk = await imported(sample);
    const logs = logsOf(desk);
    expect(Object.keys(logs).length).toBeGreaterThan(0);
    await importAll(desk);
    expect(logsOf(desk)).toEqual(logs);
    for (const change of ['removed', 'other rules'] as const) {
      for (const session of sessionsOf(desk)) {
        const path = `${storeSessions}/${session}/derived/import.json`;
        if (desk.fs.status(path) === null) continue;
        if (change === 'removed') desk.fs.removeFile(path);
        else forgetMapping(desk.fs, path);
      }
      await importAll(desk);
      expect(logsOf(desk)).toEqual(logs);
    }
  },
);

test.each(rowsOf('lines'))('G-6 %s: grown line by line it is what it is at once', async (_name, sample) => {
  const { file, bytes } = sample;
  const desk = makeThreadDesk();
  for (const end of lineEnds(bytes)) {
    plantFiles(desk, { [file]: bytes.subarray(0, end) });
    await importAll(desk, { final: false });
  }
  await importAll(desk);
  expect(contentsOf(desk)).toEqual(contentsOf(await imported(sample)));
});

test.each(rowsOf('lines', 'log'))(
  'G-7 %s: cut at any byte it waits, is whole with the rest, and when final has a torn tail',
  async (_name, sample) => {
    const { file, bytes, growth } = sample;
    const whole = await imported(sample);
    const random = new SeededRandom(7);
    const [first = 0] = lineEnds(bytes);
    for (let round = 0; round < 20; round += 1) {
      const cut = first + 1 + random.below(bytes.length - first - 1);
      const lineStart = bytes.subarray(0, cut).lastIndexOf(0x0a) + 1;
      const rest = Buffer.from(bytes.subarray(lineStart, cut)).toString('latin1').trimEnd();
      const isTorn = rest !== '' && !(rest.endsWith('}') && isJson(bytes.subarray(lineStart, cut)));
      const desk = makeThreadDesk();
      plantFiles(desk, { [file]: bytes.subarray(0, cut) });
      if (growth === 'lines') {
        const waiting = onlyOf(await importAll(desk, { final: false }));
        expect([waiting.ledger.bytes + waiting.pendingBytes, waiting.refused]).toEqual([cut, []]);
        plantFiles(desk, { [file]: bytes });
        await importAll(desk);
        expect(contentsOf(desk)).toEqual(contentsOf(whole));
      }
      const ended = makeThreadDesk();
      plantFiles(ended, { [file]: bytes.subarray(0, cut) });
      const final = onlyOf(await importAll(ended));
      expect([final.ledger.bytes, final.pendingBytes]).toEqual([cut, 0]);
      const torn = final.refused.map(({ reason, offset, length }) => [reason, offset, length]);
      expect(torn).toEqual(isTorn ? [['torn-tail', lineStart, rest.length]] : []);
    }
  },
  60_000,
);

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder().decode(bytes));
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

test.each(every)('G-7 %s: pieces of 1, 7 and 65,536 bytes give the same records', async (_name, sample) => {
  const whole = await imported(sample);
  for (const pieceBytes of [1, 7, 65_536]) {
    const desk = makeThreadDesk();
    plantFiles(desk, { [sample.file]: sample.bytes });
    const environment = { ...desk.machine, fs: inPieces(desk.fs, pieceBytes) };
    await importAll(desk, {}, { ...desk.target, environment });
    expect(contentsOf(desk)).toEqual(contentsOf(whole));
  }
});

/** One that dies: from the struck call on nothing happens any more, and its locks are a dead process's. */
async function importUntil(desk: ThreadDesk, call: number): Promise<number> {
  const fs = new FaultFileSystem(desk.fs, { call, lasting: 'from-then-on', effect: { errno: 'EIO' } });
  const machine = createTestMachine({ fs, clock: desk.clock, lockTable: new FakeLockTable(), seed: 77 });
  await importAll(desk, { final: false }, { ...desk.target, environment: machine }).catch(
    (error: unknown) => {
      if (!isTurnlogError(error)) throw error;
    },
  );
  return fs.hitCount;
}

test.each(every)(
  'G-10 %s: killed at any call, of a first import or a growing one, and repeated: the same logs',
  async (_name, { file, bytes, growth }) => {
    const ends = lineEnds(bytes);
    const part = growth === 'lines' ? bytes.subarray(0, ends[Math.floor(ends.length / 2)]) : bytes;
    const begin = async (desk: ThreadDesk, phase: 'first' | 'growing'): Promise<void> => {
      plantFiles(desk, { [file]: part });
      if (phase === 'first') return;
      await importAll(desk, { final: false });
      plantFiles(desk, { [file]: bytes });
    };
    for (const phase of growth === 'lines' ? (['first', 'growing'] as const) : (['first'] as const)) {
      const expected = makeThreadDesk();
      await begin(expected, phase);
      await importAll(expected, { final: false });
      for (let call = 1; ; call += 1) {
        const desk = makeThreadDesk();
        await begin(desk, phase);
        const hitCount = await importUntil(desk, call);
        await importAll(desk, { final: false });
        expect({ phase, call, logs: logsOf(desk) }).toEqual({ phase, call, logs: logsOf(expected) });
        expect(sessionsOf(desk)).toEqual(sessionsOf(expected));
        if (hitCount > 0) continue;
        expect(call).toBeGreaterThan(20);
        break;
      }
    }
  },
  120_000,
);

const odd: readonly unknown[] = [
  null,
  0,
  -1,
  '',
  'text',
  '\ud800',
  true,
  [],
  [null],
  {},
  { type: 'unknown' },
];

type Json = Record<string, unknown>;

/** Changes, or removes, one member somewhere in a value. */
function mutated(value: Json, random: SeededRandom): Json {
  const copy = structuredClone(value);
  for (let target = copy; ; ) {
    const names = Object.keys(target);
    const name = names[random.below(Math.max(names.length, 1))];
    if (name === undefined) return copy;
    const inner = target[name];
    if (typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0 && random.below(4) > 0) {
      target = inner as Json;
      continue;
    }
    const choice = random.below(odd.length + 1);
    if (choice === odd.length) delete target[name];
    else target[name] = odd[choice];
    return copy;
  }
}

const seed = Number(process.env['TURNLOG_TEST_SEED'] ?? 20_261_005);

test.each(every)(
  'G-11 %s: whatever a member is, nothing is thrown, the account closes, neighbours are intact',
  async (_name, { file, bytes, growth }) => {
    const random = new SeededRandom(seed);
    const text = new TextDecoder().decode(bytes);
    const lines = growth === 'document' ? [text] : text.split('\n').filter((line) => line !== '');
    for (let round = 0; round < 60; round += 1) {
      const at = random.below(lines.length);
      const changed = lines.map((line, index) =>
        index === at ? JSON.stringify(mutated(JSON.parse(line) as Json, random)) : line,
      );
      // What nobody knows yet stands behind it, as a line of its own.
      if (growth === 'lines' && at > 0) changed.splice(at, 0, '{"type":"from_the_future","more":[{}]}');
      const source = new TextEncoder().encode(`${changed.join('\n')}\n`);
      const desk = makeThreadDesk();
      plantFiles(desk, { [file]: source });
      const report = onlyOf(await importAll(desk, { raw: 'reference' }));
      expect({ line: changed[at], error: report.error }).toEqual({ line: changed[at], error: null });
      // Without its first record, or what a document is known by, a file is of no format.
      if (report.outcome === 'unknown' && (at === 0 || growth === 'document')) continue;
      const { mapped, kept, refused } = report.ledger;
      expect(mapped + kept + refused).toBe(source.length);
      if (growth === 'log' || growth === 'document') continue;
      const told = sessionsOf(desk).flatMap((session) => eventsOf(desk, session));
      expect(told.some(({ type }) => String(type).startsWith('item.'))).toBe(true);
    }
  },
  120_000,
);
