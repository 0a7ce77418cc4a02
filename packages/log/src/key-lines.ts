import { isCount, isSha256Hex, isText, readMembers } from './checked-json.js';

/** One use of a key, as the key index lists it. */
export interface ListedKey {
  readonly key: string;
  readonly seq: number;
  /** SHA-256 of the bytes of the event. */
  readonly eventSha256: string;
}

/**
 * The format of `index/keys.jsonl`: a header, then one line per record with a key, in the order of the log.
 *
 *     {"turnlog":"keys","v":1,"session_id":"s-7","generation":"<32 hex>"}
 *     {"k":"submit-7f3a","s":44,"h":"<SHA-256 of the event's bytes>"}
 */
export function encodeKeyHeader(sessionId: string, generation: string): string {
  return `${JSON.stringify({ turnlog: 'keys', v: 1, session_id: sessionId, generation })}\n`;
}

export function encodeKeyLine(used: ListedKey): string {
  return `{"k":${JSON.stringify(used.key)},"s":${used.seq},"h":"${used.eventSha256}"}\n`;
}

/** Null when the text is no line of ours. */
export function parseKeyLine(text: string): ListedKey | null {
  const found = readMembers(text);
  if (found === null) return null;
  const { k: key, s: seq, h: eventSha256 } = found;
  return isText(key) && isCount(seq) && isSha256Hex(eventSha256) ? { key, seq, eventSha256 } : null;
}

const lineFeed = 0x0a;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

/**
 * The end of the first `count` lines of `bytes` from `start` on; null when they are not all there. That they are lines
 * of ours is only looked at: parsing all of them for one key would make short-lived handles slow.
 */
export function endOfKeyLines(bytes: Buffer, start: number, count: number): number | null {
  let at = start;
  for (let line = 0; line < count; line += 1) {
    const end = bytes.indexOf(lineFeed, at);
    // The last line must have its newline too: the next one is added behind it.
    if (end === -1 || bytes[at] !== openingBrace || bytes[end - 1] !== closingBrace) return null;
    at = end + 1;
  }
  // What a power cut leaves of blocks that were never written.
  const zero = bytes.indexOf(0);
  return zero !== -1 && zero < at ? null : at;
}

/** The first line of `key` behind a newline in `lines`; null when there is none, `undefined` when it is no line of ours. */
export function searchKeyLine(lines: Buffer, key: string): ListedKey | null | undefined {
  const found = lines.indexOf(`\n{"k":${JSON.stringify(key)},"s":`);
  if (found === -1) return null;
  const line = lines.toString('utf8', found + 1, lines.indexOf(lineFeed, found + 1));
  return parseKeyLine(line) ?? undefined;
}
