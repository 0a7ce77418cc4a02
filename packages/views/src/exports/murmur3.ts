/** MurmurHash3, the variant x86_32 with seed 0, as eight lower-case hex digits. */
export function murmur3(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bodyBytes = bytes.length - (bytes.length % 4);
  let hash = 0;
  for (let at = 0; at < bodyBytes; at += 4) {
    hash ^= scrambled(view.getUint32(at, true));
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let at = bytes.length - 1; at >= bodyBytes; at -= 1) rest = (rest << 8) | (bytes[at] ?? 0);
  if (bodyBytes < bytes.length) hash ^= scrambled(rest);
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0).toString(16).padStart(8, '0');
}

function scrambled(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
