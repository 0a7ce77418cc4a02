import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { TurnlogError } from '@turnlog/kernel';
import { ed25519Name, readSshPublicKey, SshReader } from './ssh-wire.js';

/** Ed25519 (RFC 8032) from key files of OpenSSL and OpenSSH. Keys are never logged, stored or copied. */

/** Whoever signs: a key of a file, or an agent that keeps it. */
export interface Signer {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 64 bytes over `data`. */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/** What stands before the 32 bytes of a key in its DER form (RFC 8410). */
const privateHead = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicHead = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether `signature` is that of `publicKey` over `data`. */
export function verifyEd25519(publicKey: Uint8Array, data: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  return verify(null, data, keyOf(publicKey), signature);
}

function keyOf(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([publicHead, publicKey]), format: 'der', type: 'spki' });
}

/**
 * The signer of a private key file: PKCS#8 in PEM, or OpenSSH, without a passphrase.
 *
 * @throws TURNLOG_BAD_CONFIG when it is no such key.
 */
export function readSigner(file: Uint8Array, path: string): Signer {
  const text = Buffer.from(file).toString('latin1');
  const key = text.includes(opensshBegin) ? opensshKey(text, path) : pemKey(text, path);
  if (key.asymmetricKeyType !== 'ed25519') throw unusableKey(path, 'it is no Ed25519 key');
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    publicKey: spki.subarray(publicHead.length),
    sign: async (data) => sign(null, data, key),
  };
}

const opensshBegin = '-----BEGIN OPENSSH PRIVATE KEY-----';
const opensshForm = /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----/;

function pemKey(text: string, path: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (cause) {
    throw unusableKey(path, 'it is no private key without a passphrase', cause);
  }
}

/** The format of OpenSSH's PROTOCOL.key. */
function opensshKey(text: string, path: string): KeyObject {
  const body = opensshForm.exec(text)?.[1] ?? '';
  const reader = new SshReader(Buffer.from(body, 'base64'));
  const magic = reader.bytes(15);
  const cipher = reader.text();
  const derivation = reader.text();
  reader.string();
  const count = reader.uint32();
  reader.string();
  const secret = reader.string();
  if (magic === null || Buffer.from(magic).toString('latin1') !== 'openssh-key-v1\0' || secret === null) {
    throw unusableKey(path, 'it cannot be read');
  }
  if (cipher !== 'none' || derivation !== 'none')
    throw unusableKey(path, 'it has a passphrase: use --ssh-agent');
  const inner = new SshReader(secret);
  const [check, again] = [inner.uint32(), inner.uint32()];
  const name = inner.text();
  inner.string();
  const pair = inner.string();
  if (count !== 1 || check !== again || name !== ed25519Name || pair?.length !== 64) {
    throw unusableKey(path, 'it is no Ed25519 key');
  }
  const der = Buffer.concat([privateHead, pair.subarray(0, 32)]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

/** The public key in a line as OpenSSH writes it into `.pub` files; null when the file holds something else. */
export function readPublicKeyFile(file: Uint8Array): Uint8Array | null {
  const [name, blob] = Buffer.from(file).toString('latin1').trim().split(/\s+/);
  return name === ed25519Name && blob !== undefined ? readSshPublicKey(Buffer.from(blob, 'base64')) : null;
}

export function unusableKey(path: string, reason: string, cause?: unknown): TurnlogError {
  return new TurnlogError('TURNLOG_BAD_CONFIG', {
    details: { path, reason },
    message: `the key cannot be used: ${path}: ${reason}`,
    ...(cause === undefined ? {} : { cause }),
  });
}
