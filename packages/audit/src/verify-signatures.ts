import { join } from 'node:path';
import { type FileSystem, isTurnlogError, limits } from '@turnlog/kernel';
import { readBytesIfThere } from '@turnlog/log';
import type { Pack } from './pack.js';
import { packNames } from './session-files.js';
import { checkNote, noteKeyId, parseNote, type SignedNote } from './signed-note.js';
import { packNamespace, parseSshSignature, type SshSignature, verifySsh } from './sshsig.js';
import { isValidAt, type TrustedKey } from './trusted-keys.js';
import type { Assurance } from './verdict.js';

/** A pack, its bytes, and where its signatures lie. */
export interface SignedPack {
  readonly pack: Pack;
  readonly bytes: Uint8Array;
  readonly directory: string;
}

export interface SignatureRequest {
  readonly trusted: readonly TrustedKey[];
  /** Whether a signature by a trusted key must be there. */
  readonly require: boolean;
  readonly nowMs: number;
}

export interface SignatureFinding {
  readonly assurance: Assurance;
  /** Why a signature does not count; null when none fails. */
  readonly fault: string | null;
}

/**
 * What the signatures beside a pack are worth. Lines of keys that nobody knows say nothing; one of a key that is known,
 * and so the one that an SSH signature brings along, has to be right.
 */
export function verifySignatures(
  fs: FileSystem,
  signed: SignedPack,
  request: SignatureRequest,
): SignatureFinding {
  try {
    const signature = readSignature(fs, signed);
    const note = readNote(fs, signed);
    const finding = judge(signed, request, signature, note);
    if (finding.fault !== null || !request.require || isTrusted(finding.assurance)) return finding;
    return { ...finding, fault: 'no signature by a trusted key' };
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_BAD_SIGNATURE')) throw error;
    return { assurance: 'self-attested', fault: error.message };
  }
}

function isTrusted(assurance: Assurance): boolean {
  return assurance === 'signed-trusted-key' || assurance === 'witnessed';
}

function readSignature(fs: FileSystem, { directory }: SignedPack): SshSignature | null {
  const bytes = readBytesIfThere(fs, join(directory, packNames.signature), limits.signatureFileBytesMax);
  return bytes === null ? null : parseSshSignature(bytes);
}

function readNote(fs: FileSystem, { directory }: SignedPack): SignedNote | null {
  const bytes = readBytesIfThere(fs, join(directory, packNames.checkpoint), limits.signatureFileBytesMax);
  return bytes === null ? null : parseNote(bytes);
}

function judge(
  { pack, bytes }: SignedPack,
  { trusted, nowMs }: SignatureRequest,
  signature: SshSignature | null,
  note: SignedNote | null,
): SignatureFinding {
  const failed = (fault: string): SignatureFinding => ({ assurance: 'self-attested', fault });
  const signers = new Set<string>();
  let isSigned = false;
  if (signature !== null) {
    if (!verifySsh(signature, bytes)) return failed('the signature is not over this pack');
    isSigned = true;
    const known = trusted.filter((key) => isSameKey(key.publicKey, signature.publicKey));
    const allowed = known.filter((key) => isValidAt(key, nowMs) && maySign(key));
    if (known.length > 0 && allowed.length === 0)
      return failed('the key of the signature may not be used for it');
    if (allowed.length > 0) signers.add(hexOf(signature.publicKey));
  }
  if (note !== null) {
    const fault = judgeNote(pack, note, { trusted, nowMs, signature, signers });
    if (fault !== null) return failed(fault);
    isSigned ||= isNoteSigned(note, signature);
  }
  if (signers.size > 1) return { assurance: 'witnessed', fault: null };
  if (signers.size === 1) return { assurance: 'signed-trusted-key', fault: null };
  return { assurance: isSigned ? 'signed-unknown-key' : 'self-attested', fault: null };
}

interface NoteRequest {
  readonly trusted: readonly TrustedKey[];
  readonly nowMs: number;
  readonly signature: SshSignature | null;
  /** The trusted keys that have signed, in hex; those of the note are added. */
  readonly signers: Set<string>;
}

function judgeNote(pack: Pack, note: SignedNote, request: NoteRequest): string | null {
  const { trusted, signature, signers } = request;
  if (signature !== null && isForged(note, signature.publicKey))
    return 'the signature of the checkpoint is wrong';
  let isVouchedFor = isNoteSigned(note, signature);
  for (const key of trusted) {
    const checked = checkKey(note, key, request.nowMs);
    if (checked.fault !== null) return checked.fault;
    if (!checked.isSigned) continue;
    isVouchedFor = true;
    signers.add(hexOf(key.publicKey));
  }
  const { checkpoint } = note;
  const tree = pack.own?.tree;
  const isOurs = tree !== undefined && tree.size === checkpoint.size && tree.root === checkpoint.root;
  // A checkpoint nobody vouches for says nothing, whatever it says.
  return isOurs || !isVouchedFor ? null : 'the checkpoint is about another tree';
}

/** What the lines of one trusted key come to. */
function checkKey(
  note: SignedNote,
  key: TrustedKey,
  nowMs: number,
): { readonly isSigned: boolean; readonly fault: string | null } {
  const checks = namesOf(note, key).map((name) => checkNote(note, name, key.publicKey));
  const isSigned = checks.includes('valid');
  if (checks.includes('invalid')) {
    return { isSigned, fault: `the checkpoint's signature by ${key.principal} is wrong` };
  }
  const isLate = isSigned && !isValidAt(key, nowMs);
  return { isSigned, fault: isLate ? `the key of ${key.principal} may not be used any more` : null };
}

/** The names in a note that a key may have signed under. */
function namesOf({ signatures }: SignedNote, { name }: TrustedKey): readonly string[] {
  return name === null ? [...new Set(signatures.map((line) => line.name))] : [name];
}

function isForged(note: SignedNote, publicKey: Uint8Array): boolean {
  return note.signatures.some(({ name }) => checkNote(note, name, publicKey) === 'invalid');
}

/** Whether the key of the SSH signature has signed the note as well. */
function isNoteSigned({ signatures }: SignedNote, signature: SshSignature | null): boolean {
  if (signature === null) return false;
  return signatures.some(({ name, keyId }) => noteKeyId(name, signature.publicKey) === keyId);
}

function maySign({ namespaces }: TrustedKey): boolean {
  return namespaces === null || namespaces.includes(packNamespace);
}

function isSameKey(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

function hexOf(key: Uint8Array): string {
  return Buffer.from(key).toString('hex');
}
