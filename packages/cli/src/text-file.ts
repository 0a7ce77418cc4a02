import { type FileSystem, limits } from '@turnlog/kernel';
import { readNamedFile } from './named-file.js';

/** The text of a file that the user named; it may be a link. @throws TURNLOG_IO, TURNLOG_RECORD_TOO_LARGE */
export function readTextFile(given: FileSystem | undefined, path: string): string {
  return new TextDecoder().decode(readNamedFile(given, path, limits.writerLineBytesMax));
}
