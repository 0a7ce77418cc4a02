import type { SessionId } from '@turnlog/kernel';
import { isSessionId } from './session-id.js';

/**
 * The names below `trash/`: `<id>.<yyyymmddThhmmssZ>.<8 hex>`, a session and when it was removed; and
 * `.purge-<16 hex>`, something that is being purged.
 */
export interface TrashName {
  readonly name: string;
  readonly sessionId: SessionId;
  /** When it was removed, to the second. */
  readonly removedMs: number;
}

const trashForm = /^(.+)\.(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z\.[0-9a-f]{8}$/;
const purgeForm = /^\.purge-[0-9a-f]{16}$/;

/** @param hex 8 random hex digits, so that two removals in one second have two names. */
export function trashName(id: SessionId, nowMs: number, hex: string): string {
  const stamp = new Date(nowMs).toISOString().replace(/\.\d{3}/, '');
  return `${id}.${stamp.replaceAll(/[-:]/g, '')}.${hex}`;
}

/** Null for anything else, also where id or time are none. */
export function parseTrashName(name: string): TrashName | null {
  const found = trashForm.exec(name);
  if (found === null) return null;
  const [, sessionId = '', year, month, day, hour, minute, second] = found;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const removedMs = Date.parse(text);
  // A date of no calendar is moved to another day by the parser, or is not a number.
  if (Number.isNaN(removedMs) || new Date(removedMs).toISOString() !== text) return null;
  return isSessionId(sessionId) ? { name, sessionId, removedMs } : null;
}

/** @param hex 16 random hex digits. */
export function purgeName(hex: string): string {
  return `.purge-${hex}`;
}

export function isPurgeName(name: string): boolean {
  return purgeForm.test(name);
}
