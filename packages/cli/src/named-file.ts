import { createNodeFileSystem } from '@turnlog/fs';
import { type FileSystem, TurnlogError } from '@turnlog/kernel';

/** The bytes of a file that the user named; it may be a link. @throws TURNLOG_IO, TURNLOG_RECORD_TOO_LARGE */
export function readNamedFile(given: FileSystem | undefined, path: string, bytesMax: number): Uint8Array {
  const fs = given ?? createNodeFileSystem();
  const file = fs.open(fs.resolve(path), 'read');
  try {
    const { size } = file.status();
    if (size > bytesMax) {
      throw new TurnlogError('TURNLOG_RECORD_TOO_LARGE', { details: { path, byteCount: size } });
    }
    const bytes = new Uint8Array(size);
    let length = 0;
    for (let count = 1; length < size && count > 0; length += count) {
      count = file.read(bytes.subarray(length), length);
    }
    return bytes.subarray(0, length);
  } finally {
    file.close();
  }
}
