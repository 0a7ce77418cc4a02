import { limits, TurnlogError } from '@turnlog/kernel';
import { noteKeyId } from './signed-note.js';
import { ed25519Name, readSshPublicKey } from './ssh-wire.js';

/**
 * The keys that a verifier believes: lines of an `allowed_signers` file of OpenSSH, or verifier keys of C2SP
 * (`<name>+<key id>+<key>`), one each. Keys of other kinds are passed over; a line that is neither is refused.
 */
export interface TrustedKey {
  /** The name it signs notes under; null for a key that may sign under any. */
  readonly name: string | null;
  /** Who it is, for people. */
  readonly principal: string;
  readonly publicKey: Uint8Array;
  /** The namespaces it may sign for; null for all. */
  readonly namespaces: readonly string[] | null;
  /** When it may have been used, in milliseconds since the epoch; null without a bound. */
  readonly validAfterMs: number | null;
  readonly validBeforeMs: number | null;
}

/** @throws TURNLOG_BAD_CONFIG for a line that is no key. */
export function parseTrustedKeys(file: Uint8Array, path: string): readonly TrustedKey[] {
  const keys: TrustedKey[] = [];
  for (const [at, raw] of Buffer.from(file).toString('utf8').split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const key = parseVerifierKey(line) ?? parseAllowedSigner(line);
    if (key === null || keys.length >= limits.trustedKeysMax) throw badTrust(path, at + 1);
    if (key !== 'other-kind') keys.push(key);
  }
  return keys;
}

/** Whether a key may be used now. */
export function isValidAt({ validAfterMs, validBeforeMs }: TrustedKey, nowMs: number): boolean {
  return (
    (validAfterMs === null || nowMs >= validAfterMs) && (validBeforeMs === null || nowMs < validBeforeMs)
  );
}

function parseVerifierKey(line: string): TrustedKey | null {
  const found = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(line);
  const [, name = '', id = '', blob = ''] = found ?? [];
  const bytes = Buffer.from(blob, 'base64');
  if (found === null || bytes.length !== 33 || bytes[0] !== 0x01) return null;
  const publicKey = bytes.subarray(1);
  if (noteKeyId(name, publicKey) !== id) return null;
  return { name, principal: name, publicKey, namespaces: null, validAfterMs: null, validBeforeMs: null };
}

/** `principals [options] keytype base64 [comment]`; options may hold quoted blanks. */
const allowedSignerForm =
  /^(\S+)\s+(?:((?:[a-z-]+(?:="[^"]*")?)(?:,[a-z-]+(?:="[^"]*")?)*)\s+)?([a-z0-9@.-]+)\s+([A-Za-z0-9+/]+=*)(?:\s.*)?$/i;

function parseAllowedSigner(line: string): TrustedKey | 'other-kind' | null {
  const found = allowedSignerForm.exec(line);
  if (found === null) return null;
  const [, principal = '', options = '', kind = '', blob = ''] = found;
  if (kind !== ed25519Name) return /^(?:ssh-|ecdsa-|sk-)/.test(kind) ? 'other-kind' : null;
  const publicKey = readSshPublicKey(Buffer.from(blob, 'base64'));
  if (publicKey === null) return null;
  const after = optionIn(options, 'valid-after');
  const before = optionIn(options, 'valid-before');
  const [validAfterMs, validBeforeMs] = [timeOf(after), timeOf(before)];
  if ((after !== null && validAfterMs === null) || (before !== null && validBeforeMs === null)) return null;
  const namespaces = optionIn(options, 'namespaces')?.split(',') ?? null;
  return { name: null, principal, publicKey, namespaces, validAfterMs, validBeforeMs };
}

function optionIn(options: string, name: string): string | null {
  return new RegExp(`(?:^|,)${name}="([^"]*)"`, 'i').exec(options)?.[1] ?? null;
}

/** `YYYYMMDD[HHMM[SS]][Z]`; read as UTC, so that a verdict does not depend on the zone of a machine. */
function timeOf(text: string | null): number | null {
  const found = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?Z?$/.exec(text ?? '');
  if (found === null) return null;
  const [, year = '', month = '', day = '', hour = '00', minute = '00', second = '00'] = found;
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(ms) ? null : ms;
}

function badTrust(path: string, line: number): TurnlogError {
  return new TurnlogError('TURNLOG_BAD_CONFIG', {
    details: { path, line },
    message: `line ${line} of the trusted keys is no key: ${path}`,
  });
}
