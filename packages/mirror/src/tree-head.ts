import { isLooseObject } from '@turnlog/events';
import type { TreeHead } from '@turnlog/log';

/** Whether a value that was read is a tree head. */
export function isTreeHead(value: unknown): value is TreeHead {
  if (!isLooseObject(value)) return false;
  const { size, frontier } = value;
  const isSize = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0;
  return isSize && Array.isArray(frontier) && frontier.every((hash) => typeof hash === 'string');
}
