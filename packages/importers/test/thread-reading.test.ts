import { gunzipSync } from 'node:zlib';
import { sha256Hex } from '@turnlog/kernel';
import { SeededRandom } from '@turnlog/testkit';
import { corpusBytes, hasCorpus, linesOf, sayWithoutCorpus } from './stream-lines.js';
import {
  contentOf,
  type Event,
  eventsOf,
  importAll,
  importOne,
  inPieces,
  makeThreadDesk,
  member,
  plantFiles,
} from './thread-files.js';
import { codexFiles, handMade, message, meta, rolloutLine } from './thread-samples.js';

sayWithoutCorpus('thread-reading');

const samples: readonly (readonly [name: string, read: () => Uint8Array])[] = [
  ['a thread made by hand', handMade],
  ...(hasCorpus
    ? codexFiles.map(([name, path]) => [name, () => corpusBytes('codex', ...path)] as const)
    : []),
];

test('G-7 a thread cut at any byte waits for the rest, is whole with it, and when final has a torn tail', async () => {
  const bytes = handMade();
  const whole = makeThreadDesk();
  const { sessionId } = await importOne(whole, bytes);
  const expected = contentOf(whole, String(sessionId));
  const random = new SeededRandom(7);
  for (let round = 0; round < 25; round += 1) {
    const cut = 200 + random.below(bytes.length - 200);
    const desk = makeThreadDesk();
    const cutReport = await importOne(desk, bytes.subarray(0, cut), { final: false });
    expect(cutReport.ledger.bytes + cutReport.pendingBytes).toBe(cut);
    expect(cutReport.refused).toEqual([]);
    const grown = await importOne(desk, bytes);
    expect(grown.pendingBytes).toBe(0);
    expect(contentOf(desk, String(sessionId))).toEqual(expected);

    const ended = makeThreadDesk();
    const final = await importOne(ended, bytes.subarray(0, cut));
    expect(final.pendingBytes).toBe(0);
    const lineStart = bytes.subarray(0, cut).lastIndexOf(0x0a) + 1;
    const line = bytes.subarray(lineStart, cut);
    // Blanks belong to no part.
    const rest = line.at(-1) === 0x20 ? line.subarray(0, -1) : line;
    const isTorn = rest.length > 0 && rest.at(-1) !== 0x7d;
    if (isTorn) {
      expect(final.refused).toEqual([
        {
          line: expect.any(Number),
          reason: 'torn-tail',
          offset: lineStart,
          length: rest.length,
          sha256: sha256Hex(rest),
        },
      ]);
    }
  }
}, 60_000);

test.each([1, 7, 65_536])('G-7 pieces of %i bytes give the same records', async (pieceBytes) => {
  const bytes = handMade();
  const whole = makeThreadDesk();
  const { sessionId } = await importOne(whole, bytes);
  const desk = makeThreadDesk();
  plantFiles(desk, { 'one.jsonl': bytes });
  const environment = { ...desk.machine, fs: inPieces(desk.fs, pieceBytes) };
  await importAll(desk, {}, { ...desk.target, environment });
  expect(contentOf(desk, String(sessionId))).toEqual(contentOf(whole, String(sessionId)));
});

test.each(samples)('%s: every src names bytes with its digest, on its line', async (_name, read) => {
  const bytes = read();
  const desk = makeThreadDesk();
  const { sessionId } = await importOne(desk, bytes);
  const sources = eventsOf(desk, String(sessionId)).flatMap(({ src }) =>
    src === undefined ? [] : [src as Event],
  );
  expect(sources.length).toBeGreaterThan(5);
  let lines = 1;
  let at = 0;
  for (const { offset, bytes: length, sha256, line, file } of [...sources].sort(
    (a, b) => Number(a['offset']) - Number(b['offset']),
  )) {
    const start = Number(offset);
    for (; at < start; at += 1) if (bytes[at] === 0x0a) lines += 1;
    expect([sha256Hex(bytes.subarray(start, start + Number(length))), lines, file]).toEqual([
      sha256,
      line,
      'f1',
    ]);
  }
});

test.each(samples)('%s: the raw copy is the source, byte for byte', async (_name, read) => {
  const bytes = read();
  const desk = makeThreadDesk();
  plantFiles(desk, { 'one.jsonl': bytes.subarray(0, bytes.length / 3) });
  await importAll(desk, { final: false });
  const { sessionId } = await importOne(desk, bytes);
  const passes = eventsOf(desk, String(sessionId)).filter(({ type }) => type === 'run.imported');
  const parts = passes.flatMap(({ raw }) => raw as readonly Event[]);
  const joined = Buffer.concat(
    parts.map(({ asset }) =>
      gunzipSync(desk.fs.contentOf(`/store/assets/${String(asset).slice(0, 2)}/${asset}`)),
    ),
  );
  expect(sha256Hex(joined)).toBe(sha256Hex(bytes));
  expect(passes.at(-1)).toMatchObject({ to: bytes.length, prefix_sha256: sha256Hex(bytes), final: true });
  const counted = passes.map(({ ledger }) => Number(member(ledger, 'bytes'))).reduce((a, b) => a + b, 0);
  expect(counted).toBe(bytes.length);
});

test('by reference the raw copy is digests alone', async () => {
  const bytes = handMade();
  const desk = makeThreadDesk();
  const { sessionId } = await importOne(desk, bytes, { raw: 'reference' });
  const last = eventsOf(desk, String(sessionId)).at(-1);
  expect(last?.['raw']).toEqual([{ offset: 0, bytes: bytes.length, sha256: sha256Hex(bytes) }]);
  // The image of a message is an asset all the same.
  const blobs = desk.fs.list('/store/assets').flatMap(({ name }) => desk.fs.list(`/store/assets/${name}`));
  expect(blobs.map(({ name }) => name)).toEqual([sha256Hex(Uint8Array.of(0, 1, 2))]);
});

test('two objects on one line count both, what is none between records is refused by place and digest', async () => {
  const [first, second, third] = [
    rolloutLine('session_meta', meta('fused'), 0),
    rolloutLine('response_item', message('assistant', 'one')),
    rolloutLine('response_item', message('assistant', 'two')),
  ].map((line) => JSON.stringify(line));
  const bytes = linesOf(`\ufeff${first}${second}`, '{BROKEN', ` ${third}\r`, '[1]');
  const desk = makeThreadDesk();
  const report = await importOne(desk, bytes);
  expect(report.outcome).toBe('new');
  const texts = eventsOf(desk, 'codex-fused').flatMap((event) => {
    const text = member(event, 'item', 'text');
    return text === undefined ? [] : [[text, member(event, 'src', 'line'), member(event, 'src', 'offset')]];
  });
  const start = 3 + Buffer.byteLength(String(first));
  const broken = start + Buffer.byteLength(String(second)) + 1;
  expect(texts).toEqual([
    ['one', 1, start],
    ['two', 3, broken + 9],
  ]);
  expect(report.refused.map(({ line, reason, offset, length }) => [line, reason, offset, length])).toEqual([
    [2, 'bad-json', broken, 7],
    [4, 'not-a-record', bytes.length - 4, 3],
  ]);
  const { mapped, kept, refused } = report.ledger;
  expect(mapped + kept + refused).toBe(bytes.length);
});
