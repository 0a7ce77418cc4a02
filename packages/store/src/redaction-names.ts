/** Which names announce a secret, and whether a value that such a name announces is one. */

import { limits } from '@turnlog/kernel';
import { isDigestOrId, isPath, isPlaceholder } from './redaction-exempt.js';
import { looksRandom, type TextRange } from './redaction-text.js';

/**
 * - `strong`: the value is a secret even where it has the shape of a digest or an id.
 * - `plain`: the value is a secret unless it has such a shape.
 * - `weak`: names like `key` and `cacheKey` mostly name things; only what looks random counts.
 */
export type NameStrength = 'strong' | 'plain' | 'weak';

/** Endings of names that announce a secret, separators left out. */
const strongEnding = /(?:password|passwd|pwd|passphrase|secret|credentials?)$/;
/** What makes the name of a key one of a secret. */
const strongKey =
  /(?:access|account|admin|api|app|auth|client|deploy|encryption|license|master|private|secret|service|session|shared|signing|webhook)key$/;
const harmlessKey =
  /(?:^|cache|config|dedupe|foreign|group|idempotency|index|knowledge|lookup|map|message|object|parent|partition|primary|query|routing|row|search|setting|shortcut|sort|state|storage|translation)key$/;
/** Places in lists and texts are called tokens too. */
const plainToken = /(?:^|cancel|cancellation|continuation|cursor|next|page|start|stop|sync)token$/;
const noSecret = /(?:public|pub|publishable)key$|(?:don|flun|hoc|hot|joc|lac|mon|tur|whis)key$/;
const passEnding = /[_-]pass$/i;

/** How strongly a name announces a secret; null when it does not. */
export function nameStrength(name: string): NameStrength | null {
  if (name.length > limits.redactedNameUnitsMax) return null;
  if (passEnding.test(name)) return 'strong';
  const letters = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (strongEnding.test(letters)) return 'strong';
  if (letters.endsWith('token')) return plainToken.test(letters) ? 'plain' : 'strong';
  if (!letters.endsWith('key') || noSecret.test(letters)) return null;
  if (strongKey.test(letters)) return 'strong';
  return harmlessKey.test(letters) || /[.[]key$/i.test(name) ? 'weak' : 'plain';
}

/** Whether `value` is a secret when a name of this strength announces it. */
export function isSecretValue(strength: NameStrength, value: string): boolean {
  if (value.length < limits.redactedValueUnitsMin || value.length > limits.redactedValueUnitsMax)
    return false;
  if (/\s/.test(value) || isPlaceholder(value) || isPath(value)) return false;
  if (strength === 'strong') return true;
  return !isDigestOrId(value) && (strength === 'plain' || looksRandom(value));
}

export type HeaderKind = 'authorization' | 'cookie';

/** Which of the headers that carry secrets has this name; null when it is another one. */
export function headerKind(name: string): HeaderKind | null {
  if (name.length > limits.redactedNameUnitsMax) return null;
  if (/^(?:http[_-])?(?:proxy[_-]?)?authorization$/i.test(name)) return 'authorization';
  return /^(?:http[_-])?(?:set[_-]?)?cookie2?$/i.test(name) ? 'cookie' : null;
}

const scheme =
  /^(\s*(?:apikey|aws4-[a-z0-9-]{1,32}|basic|bearer|bot|digest|dpop|hawk|hmac|mac|negotiate|ntlm|oauth|splunk|token)[ \t]+)\S/i;
/** Schemes followed by a list of parameters; others are followed by one text without blanks. */
const listScheme = /^\s*(?:aws4|digest|hawk|hmac|mac|oauth)/i;

/** Whether the credentials of a header of authorization are a list that goes on over blanks. */
export function hasListScheme(value: string): boolean {
  return scheme.test(value) && listScheme.test(value);
}

/** The secret part of the value of a header; null when there is none. The scheme stays readable. */
export function headerSecret(kind: HeaderKind, value: string): TextRange | null {
  const start = value.length - value.trimStart().length;
  const whole = { start, end: value.trimEnd().length };
  if (kind === 'cookie') {
    const isList = /^\s*[^=;\s]{1,256}=[^;\s]/.test(value);
    const first = (value.slice(value.indexOf('=') + 1).split(';', 1)[0] ?? '').trim();
    return isList && (first.length < 3 || !isPlaceholder(first)) ? whole : null;
  }
  const prefix = scheme.exec(value)?.[1];
  if (prefix === undefined) {
    return isSecretValue('strong', value.slice(whole.start, whole.end)) ? whole : null;
  }
  const rest = value.slice(prefix.length, whole.end);
  const credentials = listScheme.test(prefix) ? rest : (rest.split(/\s/, 1)[0] ?? '');
  if (isPlaceholder(credentials)) return null;
  return { start: prefix.length, end: prefix.length + credentials.length };
}

/** Whether a member or parameter of this name may hold a secret, whatever its value is. */
export function announces(name: string): boolean {
  return nameStrength(name) !== null || headerKind(name) !== null;
}

/** What is announced as secret in the value of a member or parameter of this name. */
export interface Announced extends TextRange {
  readonly kind: 'assign' | 'auth';
}

export function announcedSecret(name: string, value: string): Announced | null {
  const header = headerKind(name);
  if (header !== null) {
    const range = headerSecret(header, value);
    return range === null ? null : { ...range, kind: 'auth' };
  }
  const strength = nameStrength(name);
  if (strength === null || !isSecretValue(strength, value)) return null;
  return { start: 0, end: value.length, kind: 'assign' };
}
