import { limits, sha256, TurnlogError } from '@turnlog/kernel';
import { isCount } from '@turnlog/log';
import { type Signer, verifyEd25519 } from './ed25519.js';
import type { TreeRoot } from './tree.js';

/**
 * The checkpoint of a pack: a signed note of C2SP. Three lines say whose log it is, how many records it has and their
 * root; behind a blank line each signature has a line of its own, so that witnesses can add theirs later.
 */

/** What a checkpoint says. */
export interface Checkpoint extends TreeRoot {
  readonly origin: string;
}

/** One signature line of a note. */
export interface NoteSignature {
  readonly name: string;
  /** 8 hex digits. */
  readonly keyId: string;
  readonly signature: Uint8Array;
}

export interface SignedNote {
  /** What is signed: the lines before the blank one, the last 0x0A included. */
  readonly body: Uint8Array;
  readonly checkpoint: Checkpoint;
  readonly signatures: readonly NoteSignature[];
}

const ed25519Kind = 0x01;
const dash = '\u2014 ';

/** The first four bytes that tell which key a line belongs to, as 8 hex digits. */
export function noteKeyId(name: string, publicKey: Uint8Array): string {
  const text = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ed25519Kind), publicKey]);
  return Buffer.from(sha256(text).subarray(0, 4)).toString('hex');
}

export function encodeCheckpoint({ origin, size, root }: Checkpoint): Uint8Array {
  return Buffer.from(`${origin}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\n`);
}

/** Whether a text may be the name of a key, and so the origin of a checkpoint. */
export function isKeyName(name: string): boolean {
  return name !== '' && !/[\s+\p{Cc}\u2028\u2029]/u.test(name);
}

/** The note over `checkpoint`, signed under its origin as the name of the key. */
export async function signNote(checkpoint: Checkpoint, signer: Signer): Promise<Uint8Array> {
  const body = encodeCheckpoint(checkpoint);
  const signature = await signer.sign(body);
  const id = Buffer.from(noteKeyId(checkpoint.origin, signer.publicKey), 'hex');
  const line = `${dash}${checkpoint.origin} ${Buffer.concat([id, signature]).toString('base64')}\n`;
  return Buffer.concat([body, Buffer.from('\n'), Buffer.from(line)]);
}

/**
 * The note in `bytes`; signatures are not checked.
 *
 * @throws TURNLOG_BAD_SIGNATURE when it is no note over a checkpoint.
 */
export function parseNote(bytes: Uint8Array): SignedNote {
  const text = Buffer.from(bytes).toString('utf8');
  const end = text.lastIndexOf('\n\n');
  if (end === -1 || !text.endsWith('\n')) throw badNote('it has no signature lines');
  const body = text.slice(0, end + 1);
  const [origin = '', size = '', root = ''] = body.split('\n');
  const rootBytes = Buffer.from(root, 'base64');
  const isRoot = rootBytes.length === 32 && rootBytes.toString('base64') === root;
  if (origin === '' || !/^(?:0|[1-9]\d{0,15})$/.test(size) || !isCount(Number(size)) || !isRoot) {
    throw badNote('it is no checkpoint');
  }
  const lines = text.slice(end + 2, -1).split('\n');
  if (lines.length > limits.noteLinesMax) throw badNote('it has too many lines');
  return {
    body: Buffer.from(body),
    checkpoint: { origin, size: Number(size), root: rootBytes.toString('hex') },
    signatures: lines.map(parseLine),
  };
}

function parseLine(line: string): NoteSignature {
  const [name = '', blob = '', ...rest] = line.startsWith(dash) ? line.slice(dash.length).split(' ') : [];
  const bytes = Buffer.from(blob, 'base64');
  if (!isKeyName(name) || rest.length > 0 || bytes.length < 5 || bytes.toString('base64') !== blob) {
    throw badNote('a signature line cannot be read');
  }
  return { name, keyId: bytes.subarray(0, 4).toString('hex'), signature: bytes.subarray(4) };
}

/** What a note says to somebody who knows `publicKey` under `name`; lines of other keys are passed over. */
export type NoteCheck = 'valid' | 'invalid' | 'not-signed';

export function checkNote(note: SignedNote, name: string, publicKey: Uint8Array): NoteCheck {
  const id = noteKeyId(name, publicKey);
  const lines = note.signatures.filter((line) => line.name === name && line.keyId === id);
  if (lines.length === 0) return 'not-signed';
  return lines.every(({ signature }) => verifyEd25519(publicKey, note.body, signature)) ? 'valid' : 'invalid';
}

/** The error of a note that cannot be read. */
function badNote(reason: string): TurnlogError {
  return new TurnlogError('TURNLOG_BAD_SIGNATURE', {
    details: { file: 'checkpoint', reason },
    message: `the checkpoint is not one: ${reason}`,
  });
}
