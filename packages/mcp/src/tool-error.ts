import { limits } from '@turnlog/kernel';
import { jsonBytes } from './output-limits.js';
import type { ErrorDocument, ToolContext } from './tool.js';

/** A failure as a tool tells it; details that would make it longer than an answer may be are left out. */
export function toolError(error: unknown, { tellError }: Pick<ToolContext, 'tellError'>): ErrorDocument {
  const told = tellError(error);
  if (jsonBytes(told) <= limits.mcpOutputBytes) return told;
  return { ...told, error: { ...told.error, details: {} } };
}
