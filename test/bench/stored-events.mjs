// What was written is read back: the event objects of a file of lines, whoever wrote them, must be those that
// were given.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const marker = Buffer.from('"event":');

/** Digest of the texts of events, one after the other. */
export function digestOfTexts(texts) {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\n');
  return hash.digest('hex');
}

/** Digest of the event objects in a file of JSON lines; each ends its line but for the last brace. */
export function digestOfLines(path, until = Number.POSITIVE_INFINITY) {
  const bytes = readFileSync(path);
  const hash = createHash('sha256');
  let count = 0;
  for (let start = 0; start < bytes.length && count < until; count += 1) {
    const end = bytes.indexOf(0x0a, start);
    if (end === -1) throw new Error(`${path} ends inside a line`);
    const from = bytes.indexOf(marker, start) + marker.length;
    hash.update(bytes.subarray(from, end - 1)).update('\n');
    start = end + 1;
  }
  return hash.digest('hex');
}

export function expectSame(what, digest, expected) {
  if (digest !== expected) throw new Error(`${what} did not store the events that were given`);
}
