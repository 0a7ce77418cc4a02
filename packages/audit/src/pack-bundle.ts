import { basename, dirname, join } from 'node:path';
import { type LogEnvironment, logNames } from '@turnlog/log';
import { type AssetStore, storeNames } from '@turnlog/store';
import { type BundledFile, memorySource, writeBundle } from './bundle.js';
import { unpackable } from './guarded-files.js';
import type { Pack, PackEntry } from './pack.js';
import { openPacked, type PackSnapshot } from './pack-snapshot.js';

/** A file of a pack: the pack itself, or what lies beside it. */
export type NamedBytes = readonly [name: string, bytes: Uint8Array];

interface BundleRequest {
  readonly pack: Pack;
  readonly companions: readonly NamedBytes[];
  readonly assets: AssetStore | undefined;
  readonly path: string;
}

/** The bundle is a store of its own, so that what was unpacked can be verified as it lies there. */
export function bundleSnapshot(env: LogEnvironment, snapshot: PackSnapshot, request: BundleRequest): void {
  const { pack, companions, assets, path } = request;
  const home = `${storeNames.sessions}/${pack.sessionId}`;
  const target = join(env.fs.resolve(dirname(path)), basename(path));
  writeBundle(env.fs, env.ids, target, bundled());

  function* bundled(): Iterable<BundledFile> {
    for (const entry of pack.entries) yield* entryFile(env, snapshot, entry, home);
    for (const { sha256 } of pack.own?.assets ?? []) {
      const bytes = assets?.read(sha256);
      if (bytes !== undefined) yield memoryFile(`assets/${sha256.slice(0, 2)}/${sha256}`, bytes);
    }
    for (const [name, bytes] of companions) yield memoryFile(`${home}/${logNames.derived}/${name}`, bytes);
  }
}

function memoryFile(path: string, bytes: Uint8Array): BundledFile {
  return { path, bytes: bytes.length, source: memorySource(bytes) };
}

function* entryFile(
  env: LogEnvironment,
  { directory, reader, files }: PackSnapshot,
  { path, bytes }: PackEntry,
  home: string,
): Iterable<BundledFile> {
  const held =
    path === logNames.events ? reader.source : (files.find((file) => file.path === path)?.file ?? null);
  if (held !== null) {
    yield { path: `${home}/${path}`, bytes, source: held };
    return;
  }
  const opened = openPacked(env, directory, path);
  if (opened === null) throw unpackable(path, 'it went away while it was packed');
  try {
    yield { path: `${home}/${path}`, bytes, source: opened };
  } finally {
    opened.close();
  }
}

/** Looks at each blob that the log names. @throws TURNLOG_ASSET_MISSING, TURNLOG_ASSET_DAMAGED */
export function checkAssets(pack: Pack, assets: AssetStore | undefined): void {
  for (const { sha256 } of pack.own?.assets ?? []) assets?.read(sha256);
}
