import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sha256Hex } from '@turnlog/kernel';
import type { SourceReport } from '../src/index.js';
import { corpusPath, hasCorpus, sayWithoutCorpus } from './stream-lines.js';
import {
  type Event,
  eventsOf,
  importAll,
  makeThreadDesk,
  plantFiles,
  type ThreadDesk,
} from './thread-files.js';

sayWithoutCorpus('every-file');

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

/** The bytes of a source as its assets have them; null where the log itself holds them. */
function copyIn(desk: ThreadDesk, { format, sessionId }: SourceReport): Uint8Array | null {
  if (format === 'vtcode') return null;
  const passes = eventsOf(desk, String(sessionId)).filter(({ type }) => type === 'run.imported');
  const assets = passes.flatMap(({ raw }) => raw as readonly Event[]).map(({ asset }) => String(asset));
  return Buffer.concat(
    assets.map((asset) => gunzipSync(desk.fs.contentOf(`/store/assets/${asset.slice(0, 2)}/${asset}`))),
  );
}

if (hasCorpus) {
  const corpus = corpusPath();
  const real = ['claude', 'codex', 'codex-exec', 'vtcode'];
  const folders = [
    ...readdirSync(corpus).filter((name) => statSync(join(corpus, name)).isDirectory()),
    join('..', 'cases'),
  ];

  test.each(folders.map((folder) => [`G-4 ${folder}`, folder] as const))(
    '%s: each file alone; nothing thrown, the account closes, the raw copy is the source',
    async (_title, folder) => {
      for (const path of filesBelow(join(corpus, folder))) {
        const bytes = readFileSync(path);
        const desk = makeThreadDesk();
        plantFiles(desk, { [basename(path)]: bytes });
        const [source] = (await importAll(desk)).sources;
        const file = relative(corpus, path);
        const { error = null, outcome = 'empty', ledger } = source ?? {};
        expect([file, error]).toEqual([file, null]);
        if (real.includes(folder)) expect([file, outcome, ledger?.refused]).toEqual([file, 'new', 0]);
        if (outcome !== 'new' || ledger === undefined || source === undefined) continue;
        expect([file, ledger.bytes, ledger.mapped + ledger.kept + ledger.refused]).toEqual([
          file,
          bytes.length - source.pendingBytes,
          ledger.bytes,
        ]);
        const copy = copyIn(desk, source);
        if (copy !== null) expect([file, sha256Hex(copy)]).toEqual([file, sha256Hex(bytes)]);
      }
    },
    120_000,
  );
}
