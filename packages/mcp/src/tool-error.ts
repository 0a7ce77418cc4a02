import { type ErrorCode, isTurnlogError, limits } from '@turnlog/kernel';
import { jsonBytes } from './output-limits.js';
import type { ErrorDocument, ToolContext } from './tool.js';

/** What to do, for whoever has these tools and no command line. */
const hints: ReadonlyMap<ErrorCode, string> = new Map<ErrorCode, string>([
  ['TURNLOG_BAD_FLAG', 'the input schema of the tool says what it takes'],
  ['TURNLOG_NOT_FOUND', 'list the sessions with turnlog_stats by session'],
  ['TURNLOG_TURN_NOT_FOUND', 'list the turns with turnlog_timeline'],
]);

/** A failure as a tool tells it; details that would make it longer than an answer may be are left out. */
export function toolError(error: unknown, { tellError }: Pick<ToolContext, 'tellError'>): ErrorDocument {
  const told = tellError(error);
  const hint = isTurnlogError(error) ? (hints.get(error.code) ?? told.error.hint) : told.error.hint;
  const whole = { ...told, error: { ...told.error, hint } };
  return jsonBytes(whole) <= limits.mcpOutputBytes
    ? whole
    : { ...whole, error: { ...whole.error, details: {} } };
}
