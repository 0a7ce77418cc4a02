/**
 * The kinds of secrets that are kept from leaving a store: our list, with a version. Each kind is a pure finder
 * over one decoded text; its work grows with the text alone.
 */

import { findAssigned } from './redaction-assignments.js';
import { findHighEntropy, findInUrls, findJwt, findKeys, findPem } from './redaction-finders.js';
import { findHeaders } from './redaction-headers.js';
import type { TextRange } from './redaction-text.js';

export type RedactionKindName = 'pem' | 'jwt' | 'key' | 'url' | 'auth' | 'assign' | 'user' | 'high-entropy';

/** Every kind there is, by the name that its marks have. */
export const redactionKindNames: readonly RedactionKindName[] = [
  'pem',
  'jwt',
  'key',
  'url',
  'auth',
  'assign',
  'user',
  'high-entropy',
];

export interface RedactionKind {
  readonly name: RedactionKindName;
  /** Where the text holds secrets of this kind, in any order; ranges of one call may overlap. */
  readonly find: (text: string) => readonly TextRange[];
}

/** Raised when a kind or a shape is added or changed. */
export const redactionListVersion = 1;

/**
 * What is looked for unless told otherwise. Where two kinds name the same range, the earlier one gives the name:
 * the one that says most about the secret.
 */
export const standardRedactionKinds: readonly RedactionKind[] = [
  { name: 'pem', find: findPem },
  { name: 'jwt', find: findJwt },
  { name: 'key', find: findKeys },
  { name: 'url', find: findInUrls },
  { name: 'auth', find: findHeaders },
  { name: 'assign', find: findAssigned },
];

/** Off unless asked for: it finds much that is no secret. */
export const highEntropyKind: RedactionKind = { name: 'high-entropy', find: findHighEntropy };
