import type { Kind, Role } from './chunk.js';

/** What a record says, before it is a document. */
export interface DocumentText {
  readonly role: Role;
  readonly kind: Kind;
  readonly tool: string | null;
  readonly paths: readonly string[];
  /** Joined by line feeds; empty ones are nothing. */
  readonly parts: readonly (string | null)[];
}

/** Of an event that calls no tool and names no path. */
export function spoken(role: Role, kind: Kind, ...parts: readonly (string | null)[]): DocumentText {
  return { role, kind, tool: null, paths: [], parts };
}
