import { isSha256Hex } from './checked-json.js';
import { leafHash } from './merkle-frontier.js';
import { isPlainObject } from './session-facts.js';

/**
 * The leaf hash of a record in bytes[start, end), 64 hex digits. A redacted record stands for the line that it
 * replaced, so that the tree stays the same.
 */
export function recordLeaf(
  type: string,
  bytes: Uint8Array,
  start: number,
  end: number,
  readEvent: () => unknown,
): string {
  if (type === 'log.redacted') {
    const event = readEvent();
    const leaf = isPlainObject(event) ? event['leaf'] : null;
    if (isSha256Hex(leaf)) return leaf;
  }
  return leafHash(bytes, start, end);
}
