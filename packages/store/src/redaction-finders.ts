/** Secrets that are known by their own shape: private keys, signed tokens, keys of providers, parts of URLs. */

import { JsonTokenizer, limits } from '@turnlog/kernel';
import { isDigestOrId, isInsideBase64, isPlaceholder } from './redaction-exempt.js';
import { irregularKeys, type KeyShape, keyShapes } from './redaction-key-shapes.js';
import { nameStrength } from './redaction-names.js';
import {
  classChanges,
  isAlphanumericAt,
  isWordStart,
  runAt,
  type TextRange,
  wall,
} from './redaction-text.js';

const pemBegin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const pemEnd = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** The lines of a key whose end was cut off, also where line ends are escapes. */
const pemBody = new RegExp(
  `(?:[A-Za-z0-9+/=\\s:,]|\\\\[nrt\\\\]|-(?!-)){0,${limits.redactedPemUnitsMax}}`,
  'y',
);
/** A private key that was written in base64 once more, as in configurations of clusters. */
const wrappedPem = /LS0tLS1CRUdJTi[A-Za-z0-9+/]{2,60}/g;
const base64Run = new RegExp(`[A-Za-z0-9+/=]{1,${limits.redactedPemUnitsMax}}`, 'y');

/** Blocks of private keys, whole; of one whose end is missing, what is there. */
export function findPem(text: string): readonly TextRange[] {
  if (!text.includes('-----BEGIN ') && !text.includes('LS0tLS1')) return [];
  return [...findPemBlocks(text), ...findWrappedPem(text)];
}

function findPemBlocks(text: string): readonly TextRange[] {
  const ends = [...text.matchAll(pemEnd)].map((match) => match.index + match[0].length);
  const found: TextRange[] = [];
  let nextEnd = 0;
  let covered = 0;
  for (const match of text.matchAll(pemBegin)) {
    if (match.index < covered) continue;
    const bodyStart = match.index + match[0].length;
    while ((ends[nextEnd] ?? text.length) < bodyStart) nextEnd += 1;
    const end = ends[nextEnd] ?? Number.POSITIVE_INFINITY;
    const isWhole = end - bodyStart <= limits.redactedPemUnitsMax;
    const block = isWhole ? text.slice(bodyStart, end) : runAt(pemBody, text, bodyStart);
    covered = bodyStart + (isWhole ? block.length : block.trimEnd().length);
    found.push({ start: match.index, end: covered });
  }
  return found;
}

function findWrappedPem(text: string): readonly TextRange[] {
  const found: TextRange[] = [];
  for (const match of text.matchAll(wrappedPem)) {
    if (!Buffer.from(match[0], 'base64').toString('latin1').includes('PRIVATE KEY')) continue;
    const covered = found.at(-1)?.end ?? 0;
    if (match.index < covered) continue;
    found.push({ start: match.index, end: match.index + runAt(base64Run, text, match.index).length });
  }
  return found;
}

const jwtStart = /eyJ/g;
/** The headers of tokens are short. */
const headerUnitsMax = 2_048;
const tokenHeader = new RegExp(`[A-Za-z0-9_-]{0,${headerUnitsMax}}`, 'y');
const tokenPart = new RegExp(`[A-Za-z0-9_-]{0,${limits.redactedTokenUnitsMax}}`, 'y');
/** Signed tokens have three parts, encrypted ones five. */
const jwtPartsMax = 5;

/** Three or more parts of base64url, the first of which is an object in JSON. */
export function findJwt(text: string): readonly TextRange[] {
  if (!text.includes('eyJ')) return [];
  const found: TextRange[] = [];
  let covered = 0;
  for (const match of text.matchAll(jwtStart)) {
    const start = match.index;
    if (start < covered || !isWordStart(text, start)) continue;
    const header = runAt(tokenHeader, text, start);
    let end = start + header.length;
    let parts = 1;
    while (parts < jwtPartsMax && text[end] === '.') {
      end += 1 + runAt(tokenPart, text, end + 1).length;
      parts += 1;
    }
    // Whatever else begins in the same header has no more parts.
    covered = parts < 3 ? start + header.length : start;
    if (parts < 3 || !isObjectInBase64(header)) continue;
    found.push({ start, end });
    covered = end;
  }
  return found;
}

function isObjectInBase64(part: string): boolean {
  const bytes = Buffer.from(part, 'base64url');
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, 0, bytes.length);
  if (tokenizer.next() !== 'object-start') return false;
  return tokenizer.skipContainer() && tokenizer.next() === 'end';
}

const keyStart = new RegExp(keyShapes.map(({ prefix }) => prefix.replace(/[.$]/g, '\\$&')).join('|'), 'g');

/** No key of any shape is shorter. */
const keyUnitsMin = 20;

/** Keys of providers. */
export function findKeys(text: string): readonly TextRange[] {
  if (text.length < keyUnitsMin) return [];
  const found: TextRange[] = [];
  let covered = 0;
  for (const { index } of text.matchAll(keyStart)) {
    if (index < covered || !isWordStart(text, index) || isInsideBase64(text, index)) continue;
    const end = keyEnd(text, index);
    if (end === null) continue;
    found.push({ start: index, end });
    covered = end;
  }
  for (const { mark, shape } of irregularKeys) {
    if (!text.includes(mark)) continue;
    for (const match of text.matchAll(shape)) {
      if (!isPlaceholder(match[0])) found.push({ start: match.index, end: match.index + match[0].length });
    }
  }
  return found;
}

/** The end of the key that begins at `start`; null when none does. */
function keyEnd(text: string, start: number): number | null {
  for (const shape of keyShapes) {
    if (!text.startsWith(shape.prefix, start)) continue;
    const bodyStart = start + shape.prefix.length;
    const body = runAt(shape.body, text, bodyStart);
    if (isKeyBody(shape, body, text, bodyStart + body.length)) return bodyStart + body.length;
  }
  return null;
}

function isKeyBody(shape: KeyShape, body: string, text: string, end: number): boolean {
  if (body.length < shape.lengthMin) return false;
  const isTooLong = body.length !== shape.lengthExact || isAlphanumericAt(text, end);
  if (shape.lengthExact !== null && isTooLong) return false;
  if (shape.isDoubtful && classChanges(body) < 3) return false;
  return !isPlaceholder(body);
}

/** The longest user and host of a URL that are looked at. */
const authorityUnitsMax = 1_024;
const authority = new RegExp(`[^\\s"'<>\`\\\\?#/${wall}]{1,${authorityUnitsMax}}`, 'y');
const restOfUrl = new RegExp(`[^\\s"'<>\`\\\\${wall}]{1,${authorityUnitsMax}}`, 'y');
/** A user name without a password is a token when it is as long and as mixed as none that people have. */
const tokenUserUnitsMin = 20;

/** Passwords before the host and secret members of the query of URLs. */
export function findInUrls(text: string): readonly TextRange[] {
  if (!text.includes('=') && !text.includes('://')) return [];
  const found: TextRange[] = [];
  let covered = 0;
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    if (at < covered) continue;
    const range = userSecret(text, at + 3);
    if (range === null) continue;
    found.push(range);
    covered = range.end;
  }
  return [...found, ...findQueryMembers(text)];
}

/** `start` is where the authority of a URL begins. */
function userSecret(text: string, start: number): TextRange | null {
  const user = userOf(text, start);
  if (user === '') return null;
  const colon = user.indexOf(':');
  const secret = user.slice(colon + 1);
  if (secret === '' || isPlaceholder(secret) || (colon < 0 && !isTokenUser(secret))) return null;
  return { start: start + colon + 1, end: start + user.length };
}

/** What stands before the `@` of an authority; empty when nothing does. */
function userOf(text: string, start: number): string {
  const run = runAt(authority, text, start);
  const at = run.lastIndexOf('@');
  // A password may hold a slash that nobody escaped; digits before it are a port.
  const mayGoOn = at < 0 && run.includes(':') && !/:\d*$/.test(run);
  if (!mayGoOn) return run.slice(0, Math.max(at, 0));
  const rest = runAt(restOfUrl, text, start);
  return rest.slice(0, Math.max(rest.indexOf('@'), 0));
}

function isTokenUser(user: string): boolean {
  return (
    user.length >= tokenUserUnitsMin && /\d/.test(user) && classChanges(user) >= 3 && !isDigestOrId(user)
  );
}

const queryMember = /(?:[?&#]|&amp;)([A-Za-z0-9_.[\]-]{1,64})=/g;
const queryValue = new RegExp(`[^\\s"'<>\`\\\\&#;,)${wall}]{1,${limits.redactedTokenUnitsMax}}`, 'y');
/** `key` alone mostly names something; shorter values of the others are none that anybody has guessed. */
const queryKeyUnitsMin = 8;
const queryValueUnitsMin = 4;

function findQueryMembers(text: string): readonly TextRange[] {
  const found: TextRange[] = [];
  for (const match of text.matchAll(queryMember)) {
    const start = match.index + match[0].length;
    const value = runAt(queryValue, text, start);
    if (isQuerySecret(match[1] ?? '', value)) found.push({ start, end: start + value.length });
  }
  return found;
}

function isQuerySecret(name: string, value: string): boolean {
  const bare = name.replace(/[[\]]/g, '');
  const isSignature = /(?:^|[^a-z])(?:sig|signature)$/i.test(bare) || /[a-z]Sig(?:nature)?$/.test(bare);
  const strength = isSignature ? 'strong' : nameStrength(bare);
  if (strength === null || isPlaceholder(value)) return false;
  if (strength === 'strong' || bare.toLowerCase().endsWith('token'))
    return value.length >= queryValueUnitsMin;
  return value.length >= queryKeyUnitsMin && !isDigestOrId(value);
}

const denseRun = /[A-Za-z0-9+/=_-]{20,512}/g;
/** Bits per character from which text in such an alphabet is taken for random. */
const entropyBitsMin = 4.2;
/** Assets in base64 are longer. */
const denseUnitsMax = 256;

/** Runs that look random by the frequency of their characters; finds much that is no secret. */
export function findHighEntropy(text: string): readonly TextRange[] {
  return [...text.matchAll(denseRun)]
    .map((match) => ({ start: match.index, end: match.index + match[0].length, run: match[0] }))
    .filter(({ run }) => run.length <= denseUnitsMax && isDense(run));
}

function isDense(run: string): boolean {
  if (isDigestOrId(run) || isPlaceholder(run) || !/\d/.test(run)) return false;
  const counts = new Map<string, number>();
  for (const character of run) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / run.length) * Math.log2(count / run.length);
  // A short run cannot reach the bound of a long one: at most the logarithm of its length.
  return bits >= Math.min(entropyBitsMin, Math.log2(run.length) - 0.6);
}
