import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { claudeFiles } from './claude-files.js';
import { handMade as transcript } from './claude-lines.js';
import { corpusBytes, corpusPath, hasCorpus, sayWithoutCorpus } from './stream-lines.js';
import { eventsOf, importOne, makeThreadDesk, member, type ThreadDesk } from './thread-files.js';
import { handMade as rollout } from './thread-samples.js';

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

const golden = join(__dirname, '..', '..', '..', 'test', 'golden', 'importers', 'claude-stream', 'sub-agent');

const threads: readonly (readonly [name: string, read: () => Uint8Array, sessions: number])[] = [
  ['a transcript with a sub-agent', transcript, 2],
  ['a rollout', rollout, 1],
  ['a stream with a sub-agent', () => readFileSync(join(golden, 'input.jsonl')), 2],
];

test.each(threads)(
  '%s: each session names the files that its events come from',
  async (_name, read, sessions) => {
    const desk = makeThreadDesk();
    await importOne(desk, read());
    const names = desk.fs.list('/store/sessions').map(({ name }) => name);
    expect(names).toHaveLength(sessions);
    for (const name of names) {
      const events = eventsOf(desk, name);
      const started = events.findIndex(({ type }) => type === 'run.started');
      expect(events[started + 1]).toMatchObject({
        type: 'run.source',
        path: '/foreign/one.jsonl',
        name: 'one.jsonl',
        mapping: expect.any(String),
      });
      const named = events.filter(({ type }) => type === 'run.source').map(({ file }) => file);
      const files = events.map((event) => member(event, 'src', 'file')).filter((file) => file !== undefined);
      expect([...new Set(files)]).toEqual(named);
    }
  },
);

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
