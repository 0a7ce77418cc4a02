import { TurnlogError } from '@turnlog/kernel';
import { type FoundMembers, isCount, isSha256Hex, ownMembers, readMembers } from '@turnlog/log';
import type { ConsistencyProof, InclusionProof } from './proofs.js';
import type { TreeRoot } from './tree.js';

/** The JSON of proofs, as `prove` prints them and `verify --proof` takes them. */

export type ProofFile =
  | { readonly kind: 'inclusion'; readonly proof: InclusionProof }
  | { readonly kind: 'consistency'; readonly proof: ConsistencyProof };

export function inclusionJson({ index, seq, leaf, size, root, path }: InclusionProof): FoundMembers {
  return { index, seq, leaf, size, root, path };
}

export function consistencyJson({ from, to, path }: ConsistencyProof): FoundMembers {
  return { from: { size: from.size, root: from.root }, to: { size: to.size, root: to.root }, path };
}

/** @throws TURNLOG_INVALID_PACK when it is no proof. */
export function parseProofFile(bytes: Uint8Array): ProofFile {
  const found = readMembers(Buffer.from(bytes).toString('utf8'));
  if (found === null) throw invalidProof('it is no JSON object');
  const path = hashesOf(found['path']);
  if (found['from'] !== undefined) {
    return { kind: 'consistency', proof: { from: headOf(found['from']), to: headOf(found['to']), path } };
  }
  const { index, seq, leaf, size, root } = found;
  if (!isCount(index) || !isCount(seq) || !isCount(size) || !isSha256Hex(leaf) || !isSha256Hex(root)) {
    throw invalidProof('a member is missing or of another type');
  }
  return { kind: 'inclusion', proof: { index, seq, leaf, size, root, path } };
}

function headOf(value: unknown): TreeRoot {
  const found = ownMembers(value);
  const { size, root } = found ?? {};
  if (!isCount(size) || !isSha256Hex(root)) throw invalidProof('a tree head is missing or of another form');
  return { size, root };
}

function hashesOf(value: unknown): readonly string[] {
  const hashes: readonly unknown[] = Array.isArray(value) ? value : [null];
  if (hashes.every(isSha256Hex)) return hashes;
  throw invalidProof('its path is no list of hashes');
}

function invalidProof(reason: string): TurnlogError {
  return new TurnlogError('TURNLOG_INVALID_PACK', {
    details: { place: 'proof', reason },
    message: `the proof is invalid: ${reason}`,
  });
}
