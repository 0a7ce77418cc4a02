/** What looks like a secret and is none: left alone by rule. */

import { distinctCharacters, looksRandom } from './redaction-text.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Git object ids of both kinds and SHA-256; integrity texts as package managers write them. */
const digest =
  /^(?:(?:sha256[:-])?[0-9a-f]{64}|[0-9a-f]{40}|sha(?:256|384|512)-[A-Za-z0-9+/]{43,86}={0,2})$/i;
/** Ids that agents and models give to turns, items, calls and answers, and sortable ids. */
const recordId =
  /^(?:(?:call|chatcmpl|evt|fc|gen|item|job|mem|msg|req|resp|rs|run|session|step|thread|toolu|turn)[_-][\w-]+|[0-7][0-9A-HJKMNP-TV-Z]{25})$/;

/** Whether `value` as a whole has the shape of a digest or of an id. */
export function isDigestOrId(value: string): boolean {
  return uuid.test(value) || digest.test(value) || recordId.test(value);
}

const bracketed =
  /^(?:<[^<>]*>|\$?\{{1,2}[^{}]*\}{1,2}|\$\([^()]*\)|\[[^[\]]*\]|%[A-Za-z_]\w*%|\$[A-Z_][A-Z0-9_]*)$/;
/** How one begins that holds blanks or goes on behind the value. */
const opening = /^(?:\$?\{\{|\$\{|\$\(|<$)/;
const repeated = /^(?:(.)\1{2,}|[*•·.xX_-]+)$/u;
const masked = /\.{3}|…|\*{3}|x{4}|X{4}/;
const word = /^(?:your[_-]?|placeholder|redacted)|EXAMPLE/i;
const reference =
  /^(?:process\.env|import\.meta\.env|os\.environ|env[.(:[]|secrets\.|vars\.|\w*\.?getenv\()/i;

/** Whether `value` only says where a secret would stand: `xxx`, `<token>`, `${VAR}`, `***`, `abc…xyz`. */
export function isPlaceholder(value: string): boolean {
  if (repeated.test(value) || (value.length >= 8 && distinctCharacters(value, 3) < 3)) return true;
  if (bracketed.test(value) || opening.test(value) || masked.test(value) || reference.test(value))
    return true;
  return word.test(value);
}

/** Whether `value` names a file: the secret would be in it, not in its name. */
export function isPath(value: string): boolean {
  const isRooted = /^(?:\.{0,2}\/|~\/|\$\w{1,64}\/|[A-Za-z]:[\\/])/.test(value);
  return isRooted && !/[+=@]/.test(value) && !looksRandom(value);
}

const call = /^[A-Za-z_$][\w$.]*[([]/;
const dotted = /^[A-Za-z_$]+(?:\.[A-Za-z_$]+)+$/;
const codeWord = /^(?:undefined|required|optional|disabled|function|readonly)$/i;

/** Whether an unquoted `value` is an expression of a program. */
export function isCode(value: string): boolean {
  return call.test(value) || dotted.test(value) || codeWord.test(value);
}

/** How much text before a place is looked at. */
const base64LookBack = 96;

/**
 * Whether `at` lies inside of a long base64 text, as assets have: after `+` or `/`, which end no word there, and
 * behind a run that no path has.
 */
export function isInsideBase64(text: string, at: number): boolean {
  const before = text[at - 1];
  if (before !== '+' && before !== '/') return false;
  const run = text.slice(Math.max(0, at - base64LookBack), at);
  return run.length === base64LookBack && /^[A-Za-z0-9+/]+$/.test(run) && looksRandom(run);
}
