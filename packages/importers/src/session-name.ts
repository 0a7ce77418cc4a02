import { sha256Hex } from '@turnlog/kernel';
import { isSessionId } from '@turnlog/store';

/** Whether a store takes `text` as the id of a session: it is one, and not the ledger's. */
export function isSessionName(text: string): boolean {
  return isSessionId(text) && text.toLowerCase() !== 'ledger';
}

/** The id of a thread's session: `<prefix>-<thread id>`, or a digest where that is no id of a session. */
export function threadSessionId(prefix: string, threadId: string): string {
  const plain = `${prefix}-${threadId}`;
  return isSessionName(plain) ? plain : digestedId(prefix, threadId);
}

/** `<prefix>-x<32 hex digits of a digest>`: an id for whatever the source has. */
export function digestedId(prefix: string, raw: string): string {
  return `${prefix}-x${sha256Hex(new TextEncoder().encode(raw)).slice(0, 32)}`;
}

/** The id of a sub-agent's session: that of its parent, a dot, the agent's or call's id. */
export function childSessionId(parentId: string, prefix: string, childId: string): string {
  const plain = `${parentId}.${childId}`;
  return isSessionName(plain) ? plain : digestedId(prefix, plain);
}
