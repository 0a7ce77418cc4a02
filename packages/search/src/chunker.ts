import { limits } from '@turnlog/kernel';

const lineFeed = 0x0a;

/** What Unicode calls white space. */
const whiteSpace: ReadonlySet<number> = new Set(
  Array.from('\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000').map((space) => space.charCodeAt(0)),
);

function isWhiteSpace(codePoint: number): boolean {
  return whiteSpace.has(codePoint) || (codePoint >= 0x2000 && codePoint <= 0x200a);
}

/** How many bytes a code point takes as UTF-8; a lone surrogate as much as the U+FFFD that stands for it. */
function utf8Width(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x1_0000 ? 3 : 4;
}

/**
 * Cuts a text into chunks of at most 4,096 bytes (SE-4): behind the last line feed in the second half of that, else
 * behind the last white space there, else between two code points. One behind the other they are the text.
 */
export function chunksOf(text: string): readonly string[] {
  const chunks: string[] = [];
  let start = 0;
  do {
    const end = chunkEnd(text, start);
    chunks.push(text.slice(start, end));
    start = end;
  } while (start < text.length);
  return chunks;
}

function chunkEnd(text: string, start: number): number {
  // No unit of UTF-16 takes more than three bytes.
  if ((text.length - start) * 3 <= limits.chunkBytesMax) return text.length;
  let behindLine = 0;
  let behindSpace = 0;
  let bytes = 0;
  for (let at = start; at < text.length; ) {
    const codePoint = text.codePointAt(at) ?? 0;
    const width = utf8Width(codePoint);
    if (bytes + width > limits.chunkBytesMax) return behindLine || behindSpace || at;
    bytes += width;
    at += codePoint > 0xffff ? 2 : 1;
    if (bytes * 2 <= limits.chunkBytesMax) continue;
    if (codePoint === lineFeed) behindLine = at;
    else if (isWhiteSpace(codePoint)) behindSpace = at;
  }
  return text.length;
}

/** The part of a text that is indexed. */
export interface IndexedText {
  readonly text: string;
  /** Bytes that are left out of its middle. */
  readonly unindexedBytes: number;
}

/** The first and the last half MiB of a text (SE-5), cut between code points; all of one that is no longer. */
export function indexedPart(text: string): IndexedText {
  const half = limits.indexedTextBytesMax / 2;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limits.indexedTextBytesMax) return { text, unindexedBytes: 0 };
  const indexed = beginningOf(text, half) + endOf(text, half);
  return { text: indexed, unindexedBytes: bytes - Buffer.byteLength(indexed) };
}

/** As much of the start of a text as goes into `bytesMax`, no code point cut. */
export function beginningOf(text: string, bytesMax: number): string {
  let bytes = 0;
  let at = 0;
  while (at < text.length) {
    const codePoint = text.codePointAt(at) ?? 0;
    bytes += utf8Width(codePoint);
    if (bytes > bytesMax) break;
    at += codePoint > 0xffff ? 2 : 1;
  }
  return text.slice(0, at);
}

function endOf(text: string, bytesMax: number): string {
  let bytes = 0;
  let at = text.length;
  while (at > 0) {
    const isPair = at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff;
    const next = isPair ? at - 2 : at - 1;
    bytes += utf8Width(text.codePointAt(next) ?? 0);
    if (bytes > bytesMax) break;
    at = next;
  }
  return text.slice(at);
}
