import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { claudeFiles } from './claude-files.js';
import { corpusBytes, corpusPath, hasCorpus, sayWithoutCorpus } from './stream-lines.js';
import { eventsOf, importOne, makeThreadDesk, member, type ThreadDesk } from './thread-files.js';

interface Provenance {
  readonly file: string;
  readonly line: number;
  readonly offset: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** The sources that the events of all sessions of a desk name, each place once. */
function placesOf(desk: ThreadDesk): readonly Provenance[] {
  const places = new Map<string, Provenance>();
  for (const { name, kind } of desk.fs.list('/store/sessions')) {
    if (kind !== 'directory' || name.startsWith('.')) continue;
    for (const event of eventsOf(desk, name)) {
      const src = member(event, 'src');
      if (typeof src !== 'object' || src === null) continue;
      const place = src as Provenance;
      places.set(`${place.offset} ${place.bytes}`, place);
    }
  }
  return [...places.values()];
}

/** Physical line of a position: one more than the line ends before it. */
function lineAt(bytes: Uint8Array, offset: number): number {
  let line = 1;
  for (let at = bytes.indexOf(0x0a); at !== -1 && at < offset; at = bytes.indexOf(0x0a, at + 1)) line += 1;
  return line;
}

async function placesIn(bytes: Uint8Array): Promise<readonly Provenance[]> {
  const desk = makeThreadDesk();
  await importOne(desk, bytes);
  return placesOf(desk);
}

function codexFiles(): readonly (readonly string[])[] {
  return readdirSync(corpusPath('codex')).flatMap((owner) =>
    readdirSync(corpusPath('codex', owner)).map((name) => ['codex', owner, name]),
  );
}

/** Places on a line that holds two objects, as the format's owner counts them. */
const fused: readonly (readonly [
  path: readonly string[],
  line: number,
  places: readonly (readonly number[])[],
])[] = [
  [
    ['claude', 'entireio-cli', '2.1.7+2.1.12-concatenated-line.jsonl'],
    128,
    [
      [403_953, 1_007],
      [404_960, 128],
    ],
  ],
  [
    ['codex', 'entireio-git-sync', 'concatenated-line.excerpt.jsonl'],
    12,
    [
      [30_408, 549],
      [30_957, 208],
    ],
  ],
];

if (hasCorpus) {
  describe('G-8 every event of the real files says where it comes from', () => {
    const files = [...claudeFiles.map((path) => ['claude', ...path]), ...codexFiles()];

    test.each(files.map((path) => [path.join('/'), path] as const))(
      'G-8 %s: the bytes hash to what is said, on the line that is said',
      async (_title, path) => {
        const bytes = corpusBytes(...path);
        const places = await placesIn(bytes);
        expect(places.length).toBeGreaterThan(0);
        for (const { offset, bytes: length, sha256, line } of places) {
          const digest = createHash('sha256')
            .update(bytes.subarray(offset, offset + length))
            .digest('hex');
          expect([offset, digest, line]).toEqual([offset, sha256, lineAt(bytes, offset)]);
        }
      },
    );

    test.each(fused)('G-8 two objects on one line: %s', async (path, line, expected) => {
      const places = await placesIn(corpusBytes(...path));
      const onLine = places
        .filter((place) => place.line === line)
        .map(({ offset, bytes }) => [offset, bytes]);
      expect(onLine).toEqual(expected);
    });
  });
} else {
  sayWithoutCorpus('provenance of real files');
}
