import { type SessionId, TurnlogError } from '@turnlog/kernel';

const idForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Names that some systems keep for devices, with any extension. */
const deviceForm = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/**
 * Whether `text` can be the id of a session: 1 to 128 of A-Z a-z 0-9 . _ -, beginning with a letter or digit, not
 * ending in a dot, and no device name. Such a name is one plain file name on every system.
 */
export function isSessionId(text: string): text is SessionId {
  return idForm.test(text) && !text.endsWith('.') && !deviceForm.test(text);
}

/**
 * The id that `text` is. Nothing is looked up and nothing corrected, so a hostile text never comes near a file
 * system, wherever it was read.
 *
 * @throws TURNLOG_INVALID_SESSION_ID; details: length, and the text up to 200 characters.
 */
export function parseSessionId(text: string): SessionId {
  if (isSessionId(text)) return text;
  throw new TurnlogError('TURNLOG_INVALID_SESSION_ID', {
    details: { id: text.slice(0, 200), length: text.length },
  });
}
