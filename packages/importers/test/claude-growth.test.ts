import { SeededRandom } from '@turnlog/testkit';
import { claudeFiles } from './claude-files.js';
import { handMade } from './claude-lines.js';
import { corpusBytes, hasCorpus, sayWithoutCorpus } from './stream-lines.js';
import {
  contentsOf,
  importAll,
  importOne,
  lastOf,
  lineEnds,
  logsOf,
  makeThreadDesk,
  plantFiles,
  sessionsOf,
  storeSessions,
} from './thread-files.js';
import { forgetMapping } from './thread-samples.js';

sayWithoutCorpus('claude-growth');

const samples: readonly (readonly [name: string, read: () => Uint8Array])[] = [
  ['a transcript made by hand', handMade],
  ...(hasCorpus
    ? claudeFiles.map((path) => [path.join('/'), () => corpusBytes('claude', ...path)] as const)
    : []),
];

/** All line ends of a short file, of a long one some. */
function stopsIn(bytes: Uint8Array, stopsMax: number): readonly number[] {
  const ends = lineEnds(bytes);
  if (ends.length <= stopsMax) return ends;
  const random = new SeededRandom(6);
  const some = new Set(Array.from({ length: 64 }, () => ends[random.below(ends.length)] ?? 0));
  return [...some].sort((a, b) => a - b);
}

test.each(samples)(
  'G-5 %s: a second pass changes no byte, with its state, without and of other rules',
  async (_name, read) => {
    const desk = makeThreadDesk();
    const { sessionId } = await importOne(desk, read());
    const before = logsOf(desk);
    const derived = `${storeSessions}/${sessionId}/derived`;
    expect((await importAll(desk)).outcomes.unchanged).toBe(1);
    expect(logsOf(desk)).toEqual(before);

    desk.fs.removeFile(`${derived}/import.json`);
    expect((await importAll(desk)).outcomes.unchanged).toBe(1);
    expect(logsOf(desk)).toEqual(before);

    forgetMapping(desk.fs, `${derived}/import.json`);
    expect((await importAll(desk)).outcomes.unchanged).toBe(1);
    expect(logsOf(desk)).toEqual(before);
  },
);

/** Where a file's lines name no session any more, and from where on one of them has the id of the file's name. */
function namesIn(bytes: Uint8Array, name: string): { readonly none: number; readonly own: number } {
  const id = name.replace(/\.jsonl$/, '');
  const endOf = (text: string): number => {
    const at = Buffer.from(bytes).indexOf(text);
    return at === -1 ? Number.POSITIVE_INFINITY : at + text.length;
  };
  if (id.includes('.')) return { none: 0, own: 0 };
  return { none: endOf('"sessionId":"'), own: endOf(`"sessionId":"${id}"`) };
}

/** The id that the file's name has in its agent's folder. */
const nameOf = (expected: Readonly<Record<string, unknown>>): string =>
  `${String(Object.keys(expected)[0]).replace(/^claude-/, '')}.jsonl`;

test.each(samples)(
  'G-6 %s: grown in steps it is what it is imported at once',
  async (_name, read) => {
    const bytes = read();
    const first = makeThreadDesk();
    await importOne(first, bytes);
    const name = nameOf(contentsOf(first));
    const whole = makeThreadDesk();
    plantFiles(whole, { [name]: bytes });
    await importAll(whole);
    const expected = contentsOf(whole);
    const desk = makeThreadDesk();
    const named = namesIn(bytes, name);
    for (const stop of stopsIn(bytes, 500)) {
      // Until a line has the id of the file's name a resumed thread goes under the id that it had before.
      if (stop >= named.none && stop < named.own) continue;
      plantFiles(desk, { [name]: bytes.subarray(0, stop) });
      await importAll(desk, { final: false });
      for (const session of sessionsOf(desk)) {
        const { count, last } = lastOf(desk, session);
        expect([stop, last]).toEqual([stop, expected[session]?.[count - 1]]);
      }
    }
    plantFiles(desk, { [name]: bytes });
    await importAll(desk);
    expect(contentsOf(desk)).toEqual(expected);
  },
  240_000,
);

test('a transcript cut at any byte waits for the rest and is whole with it', async () => {
  const bytes = handMade();
  const whole = makeThreadDesk();
  await importOne(whole, bytes);
  const expected = contentsOf(whole);
  const random = new SeededRandom(7);
  for (let round = 0; round < 40; round += 1) {
    const cut = 200 + random.below(bytes.length - 200);
    const desk = makeThreadDesk();
    const first = await importOne(desk, bytes.subarray(0, cut), { final: false });
    expect(first.ledger.bytes + first.pendingBytes).toBe(cut);
    expect(first.refused).toEqual([]);
    await importOne(desk, bytes);
    expect(contentsOf(desk)).toEqual(expected);
  }
});
