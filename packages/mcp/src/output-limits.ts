import { limits } from '@turnlog/kernel';

/** A list that was cut so that its document fits. */
export interface Fitted<Item> {
  readonly items: readonly Item[];
  /** Whether anything was left out. */
  readonly isCapped: boolean;
}

/** Bytes of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

/**
 * The first items that fit into `maxBytes` beside the other members of a document. Whole ones are left out: half an
 * item would say something that nobody recorded. What leaves must have passed the redactor before.
 *
 * @param others the document without its list, and without the cursor that only then is known.
 */
export function fitItems<Item>(items: readonly Item[], others: unknown, maxBytes: number): Fitted<Item> {
  let bytes = jsonBytes(others) + limits.mcpCursorBytes;
  const fitting: Item[] = [];
  for (const item of items) {
    bytes += jsonBytes(item) + 1;
    if (bytes > maxBytes) break;
    fitting.push(item);
  }
  return { items: fitting, isCapped: fitting.length < items.length };
}

/** The bytes that an answer may have. */
export function outputBytes(asked: number | undefined): number {
  return Math.min(asked ?? limits.mcpOutputBytes, limits.mcpOutputBytesMax);
}

/** The beginning of a text that takes no more than `bytesMax` bytes as JSON; no character is cut in two. */
export function textWithin(text: string, bytesMax: number): string {
  let [fits, tooLong] = [0, text.length + 1];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (jsonBytes(text.slice(0, middle)) <= bytesMax) fits = middle;
    else tooLong = middle;
  }
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(fits - 1));
  return text.slice(0, isHalf ? fits - 1 : fits);
}
