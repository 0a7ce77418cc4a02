import { join } from 'node:path';
import { listIfThere } from '@turnlog/fs';
import { isTurnlogError } from '@turnlog/kernel';
import { type HistoryLeaf, historyLeaves, type LogReader, openLogReader } from '@turnlog/log';
import { AssetStore, parseTrashName, type Store, storeNames, trashEntryPath } from '@turnlog/store';
import { AssetReferences } from './asset-references.js';
import { findImportedSources, importedFileOf, isImportPass } from './imported-sources.js';

/**
 * The blobs that go with redacted records: those that only they named, and the raw copies of the files that they were
 * imported from. Those hold every word of theirs, some of them more than once.
 */

/** What becomes of the blobs that go with redacted records. */
export interface RedactedAssets {
  /** Named by nothing else that stays. */
  readonly going: readonly string[];
  /** Those of them that are pieces of a raw copy. */
  readonly raw: readonly string[];
  /** Named by other records too, or by a log that cannot be read, so that nobody can tell. */
  readonly shared: readonly string[];
}

export interface RedactedBlobs extends RedactedAssets {
  /** Paths of the files that the records were imported from. They are not the store's. */
  readonly importedFrom: readonly string[];
}

/** Looks through all logs of the store, its ledger and its trash, but only where there is any blob to look for. */
export function assetsOnlyIn(
  store: Store,
  reader: LogReader,
  targets: readonly HistoryLeaf[],
): RedactedBlobs {
  const { fs } = store.environment;
  const assets = new AssetStore(store.environment, store.root);
  const files = new Set(targets.flatMap(({ record }) => importedFileOf(record.readEvent()) ?? []));
  const sources = findImportedSources(historyLeaves(fs, reader), files);
  const named = [...new Set([...namedBy(targets), ...sources.rawCopies])].filter((sha256) =>
    assets.has(sha256),
  );
  const left = new Set(named);
  if (left.size > 0) {
    const going = new Set(targets.map(({ index }) => index));
    for (const { index, record } of historyLeaves(fs, reader)) {
      if (!going.has(index) && !isImportPass(record, files)) dropNamed(left, record.bytes);
    }
  }
  for (const log of otherLogs(store, reader.directory)) {
    if (left.size === 0) break;
    dropNamedIn(store, left, log);
  }
  return {
    going: [...left],
    raw: [...left].filter((sha256) => sources.rawCopies.has(sha256)),
    shared: named.filter((sha256) => !left.has(sha256)),
    importedFrom: sources.paths,
  };
}

export function removeAssets(store: Store, digests: readonly string[]): void {
  const assets = new AssetStore(store.environment, store.root);
  for (const sha256 of digests) assets.remove(sha256);
}

function namedBy(targets: readonly HistoryLeaf[]): readonly string[] {
  const references = new AssetReferences();
  for (const { record } of targets) {
    const { type, seq } = record;
    references.note({ type, seq, hasAssetWord: true, readEvent: () => record.readEvent() });
  }
  return references.list().map(({ sha256 }) => sha256);
}

/** Takes out the digests that stand in `bytes`, in whatever member: a digest that only looks like one keeps its blob. */
function dropNamed(left: Set<string>, bytes: Uint8Array): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (const sha256 of left) if (buffer.includes(sha256)) left.delete(sha256);
}

interface OtherLog {
  readonly directory: string;
  readonly id: string;
}

function* otherLogs(store: Store, except: string): Iterable<OtherLog> {
  const { root } = store;
  const logs: OtherLog[] = [
    { directory: join(root, storeNames.ledger), id: storeNames.ledger },
    ...store.ids().map((id) => ({ directory: join(root, storeNames.sessions, id), id })),
    ...namesBelow(store, join(root, storeNames.trash)).flatMap((name): readonly OtherLog[] => {
      const entry = parseTrashName(name);
      return entry === null ? [] : [{ directory: trashEntryPath(root, name), id: entry.sessionId }];
    }),
  ];
  for (const log of logs) if (log.directory !== except) yield log;
}

function namesBelow({ environment: { fs } }: Store, path: string): readonly string[] {
  return listIfThere(fs, path)
    .filter(({ kind }) => kind === 'directory')
    .map(({ name }) => name);
}

/** A log that cannot be read to its end may name any of them. */
function dropNamedIn({ environment: { fs } }: Store, left: Set<string>, { directory, id }: OtherLog): void {
  try {
    const reader = openLogReader(fs, directory, id, { unreadable: 'show' });
    try {
      for (const { record } of historyLeaves(fs, reader)) dropNamed(left, record.bytes);
    } finally {
      reader.close();
    }
  } catch (error) {
    if (isTurnlogError(error, 'TURNLOG_NOT_FOUND')) return;
    if (!isTurnlogError(error)) throw error;
    left.clear();
  }
}
