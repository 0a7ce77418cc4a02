import writeFileAtomic from 'write-file-atomic';

/**
 * Replaces a file through the library, for derived files alone: it looks at no count that a write returns, so a
 * full disk gives a file that is cut short; it follows a link that has the name; its temp name is opened whatever
 * stands there; and no name is synced. Without its fsync, because what is derived is made again.
 */
export function replaceDerivedFile(path: string, bytes: Uint8Array): void {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  writeFileAtomic.sync(path, data, { mode: 0o600, fsync: false });
}
