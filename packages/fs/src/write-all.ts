import { type FileHandle, TurnlogError } from '@turnlog/kernel';

/**
 * Writes all of `bytes` at the end of `file`, or throws and says how far it came.
 *
 * One write may store fewer bytes than asked and report success (a nearly full disk does), so only the
 * returned counts are believed. The caller rolls back: some of the bytes may be in the file.
 *
 * @throws TURNLOG_IO when a write stores nothing or fails; details: operation, path, errno, byteCount,
 *   writtenByteCount.
 * @see POSIX.1-2017, write(), RETURN VALUE: fewer than nbyte bytes is not an error.
 */
export function writeAll(file: FileHandle, bytes: Uint8Array): void {
  let writtenByteCount = 0;
  while (writtenByteCount < bytes.length) {
    const count = writeSome(file, bytes, writtenByteCount);
    if (count === 0) throw writeStopped(file, bytes, writtenByteCount);
    writtenByteCount += count;
  }
}

function writeSome(file: FileHandle, bytes: Uint8Array, from: number): number {
  try {
    return file.write(from === 0 ? bytes : bytes.subarray(from));
  } catch (error) {
    if (from === 0 || !(error instanceof TurnlogError)) throw error;
    const details = { ...error.details, byteCount: bytes.length, writtenByteCount: from };
    throw new TurnlogError(error.code, { details, cause: error, message: error.message });
  }
}

function writeStopped(file: FileHandle, bytes: Uint8Array, writtenByteCount: number): TurnlogError {
  return new TurnlogError('TURNLOG_IO', {
    details: { operation: 'write', path: file.path, errno: null, byteCount: bytes.length, writtenByteCount },
    message: `write stored ${writtenByteCount} of ${bytes.length} bytes: ${file.path}`,
  });
}
