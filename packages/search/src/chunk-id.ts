import type { ChunkKey } from './chunk.js';

/** The id of a chunk as people and programs see it. */
export function formatChunkId({ session, seq, n }: ChunkKey): string {
  return n === 0 ? `${session}:${seq}` : `${session}:${seq}:${n}`;
}

/** The chunk that an id names; null when the text is no id. */
export function parseChunkId(text: string): ChunkKey | null {
  const found = /^(.+?):([1-9]\d{0,15})(?::([1-9]\d{0,8}))?$/su.exec(text);
  if (found === null) return null;
  const [, session = '', seq = '', n = '0'] = found;
  return { session, seq: Number(seq), n: Number(n) };
}

/** The order of ids: session by bytes, then seq, then n as numbers. Negative when `left` comes first. */
export function compareChunkKeys(left: ChunkKey, right: ChunkKey): number {
  if (left.session !== right.session) return compareBytes(left.session, right.session);
  return left.seq - right.seq || left.n - right.n;
}

/** The order of two texts by the bytes of their UTF-8, which is that of their code points. */
export function compareBytes(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const [a, b] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (a === b) continue;
    // Surrogates stand for code points above all others, although their units do not.
    const [isHighA, isHighB] = [a >= 0xd800 && a <= 0xdfff, b >= 0xd800 && b <= 0xdfff];
    return isHighA === isHighB ? a - b : isHighA ? 1 : -1;
  }
  return left.length - right.length;
}
