// Files that somebody has chosen or dropped, as sessions that can be verified.

import { decode, fail } from './bytes.mjs';
import { packPath } from './pack.mjs';
import { isEntryPath } from './shapes.mjs';

const blockBytes = 512;
const textIn = (header, at, length) => decode(header.subarray(at, at + length)).split('\0', 1)[0];

/** A header of the ustar format; only plain files with paths that lead nowhere else may stand in a bundle. */
function readHeader(header) {
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  const [prefix, name, size] = [textIn(header, 345, 155), textIn(header, 0, 100), textIn(header, 124, 12).trim()];
  const path = prefix === '' ? name : `${prefix}/${name}`;
  if (Number.parseInt(textIn(header, 148, 8), 8) !== sum) fail('a header of the bundle is damaged');
  if (header[156] !== 0x30 && header[156] !== 0) fail('the bundle holds something that is no plain file');
  if (!isEntryPath(path) || !/^[0-7]{1,11}$/.test(size)) fail('a path or a size of the bundle cannot be');
  return { path, length: Number.parseInt(size, 8) };
}

/** The files of a bundle. */
export async function filesInBundle(file) {
  const files = new Map();
  for (let at = 0; ; ) {
    const header = new Uint8Array(await file.slice(at, at + blockBytes).arrayBuffer());
    if (header.length < blockBytes) fail('the bundle ends in the middle');
    if (header.every((byte) => byte === 0)) return files;
    const { path, length } = readHeader(header);
    at += blockBytes;
    if (files.has(path) || at + length > file.size) fail('the bundle is not as it says');
    files.set(path, file.slice(at, at + length));
    at += Math.ceil(length / blockBytes) * blockBytes;
  }
}

/** The files of a directory that was chosen: their paths begin with its name. */
export const filesInDirectory = (list) =>
  new Map(Array.from(list, (file) => [file.webkitRelativePath.slice(file.webkitRelativePath.indexOf('/') + 1), file]));

/** The files below a directory that was dropped, where the browser hands out handles. */
async function filesInHandle(handle, prefix = '') {
  if (handle.kind === 'file') return [[prefix, await handle.getFile()]];
  const found = [];
  for await (const [name, each] of handle.entries())
    found.push(...(await filesInHandle(each, prefix === '' ? name : `${prefix}/${name}`)));
  return found;
}

/** The same where it hands out entries; Chromium cannot read those for a page that was opened from the disk. */
async function filesInEntry(entry, prefix = '') {
  if (entry.isFile) return [[prefix, await new Promise((resolve, reject) => entry.file(resolve, reject))]];
  const [reader, found] = [entry.createReader(), []];
  // A reader gives its entries in portions, the last of which is empty.
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    for (const each of some) found.push(...(await filesInEntry(each, prefix === '' ? each.name : `${prefix}/${each.name}`)));
  }
}

/** What was dropped: the files of a directory, or those in a bundle. All of it must be asked for before anything is awaited. */
export async function filesDropped(item) {
  const [file, entry, asked] = [item.getAsFile(), item.webkitGetAsEntry(), item.getAsFileSystemHandle?.()];
  if (entry?.isDirectory === false) return await filesInBundle(file);
  return new Map(await (asked === undefined ? filesInEntry(entry) : filesInHandle(await asked)));
}

/** The bytes of a gzip stream, no more than there should be. */
async function unpacked(blob, lengthMax) {
  const parts = [];
  let length = 0;
  const reader = blob.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    length += value.length;
    if (length > lengthMax) fail('an archive is longer than it says');
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

export const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());

/** The sessions among files, by the directory that they lie in: those with a pack, or else the one there is. */
export function sessionsIn(files, areSignaturesRead) {
  const packs = [...files.keys()].filter((path) => path === packPath || path.endsWith(`/${packPath}`));
  const homes = packs.length > 0 ? packs.map((path) => path.slice(0, -packPath.length)) : [''];
  return homes.map((home) => {
    const own = new Map(
      [...files].filter(([path]) => path.startsWith(home)).map(([path, file]) => [path.slice(home.length), file]),
    );
    const isRead = (path) => own.has(path) && (areSignaturesRead || !/\.sig$|\.checkpoint$/.test(path));
    const read = async (path) => (isRead(path) ? bytesOf(own.get(path)) : null);
    const unpack = async (path, length) => (own.has(path) && path.endsWith('.gz') ? unpacked(own.get(path), length) : null);
    return { home: home.replace(/\/$/, ''), paths: [...own.keys()], read, unpack };
  });
}
