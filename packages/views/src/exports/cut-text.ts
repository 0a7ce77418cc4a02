const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** The beginning and the end of a text, in so many bytes of UTF-8, with what was left out named between them. */
export function cutText(text: string, bytesMax: number): string {
  if (utf8Bytes(text) <= bytesMax) return text;
  const bytes = encoder.encode(text);
  const mark = `\n[… ${bytes.length} bytes in all, the middle is left out …]\n`;
  const room = Math.max(bytesMax - utf8Bytes(mark), 0);
  const head = boundaryAt(bytes, Math.ceil(room / 2));
  const tail = boundaryAfter(bytes, bytes.length - Math.floor(room / 2));
  return `${decoder.decode(bytes.subarray(0, head))}${mark}${decoder.decode(bytes.subarray(tail))}`;
}

function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function boundaryAt(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end > 0 && isInside(bytes[end])) end -= 1;
  return end;
}

function boundaryAfter(bytes: Uint8Array, at: number): number {
  let start = at;
  while (isInside(bytes[start])) start += 1;
  return start;
}
