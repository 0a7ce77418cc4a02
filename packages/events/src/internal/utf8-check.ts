/** Whether bytes are UTF-8 as the Unicode standard has it: shortest forms, no surrogates, up to U+10FFFF. */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    if ((bytes[at] as number) < 0x80) {
      at += 1;
      continue;
    }
    const length = sequenceLength(bytes, at, end);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/** The least and the greatest second byte that a first byte allows, where it is not 0x80 to 0xBF. */
const narrowSeconds: ReadonlyMap<number, readonly [least: number, most: number]> = new Map([
  [0xe0, [0xa0, 0xbf]],
  [0xed, [0x80, 0x9f]],
  [0xf0, [0x90, 0xbf]],
  [0xf4, [0x80, 0x8f]],
]);

function announcedLength(first: number): number {
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/** How many bytes the character of several bytes at `at` takes; 0 when it is none. */
function sequenceLength(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at] as number;
  const length = announcedLength(first);
  if (length === 0 || at + length > end) return 0;
  const [least, most] = narrowSeconds.get(first) ?? [0x80, 0xbf];
  const second = bytes[at + 1] as number;
  if (second < least || second > most) return 0;
  for (let index = at + 2; index < at + length; index += 1) {
    if (((bytes[index] as number) & 0xc0) !== 0x80) return 0;
  }
  return length;
}
