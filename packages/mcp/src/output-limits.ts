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
