import { createHash } from 'node:crypto';
import { TurnlogError } from '@turnlog/kernel';
import { type Signer, verifyEd25519 } from './ed25519.js';
import { ed25519Name, readSshPublicKey, SshReader, sshPublicKey, sshString, sshUint32 } from './ssh-wire.js';

/**
 * Signatures of files as `ssh-keygen -Y sign` makes them (OpenSSH, PROTOCOL.sshsig): a text in armour that holds the
 * public key, the namespace and the signature over a hash of the file.
 */

/** What our signatures are for: one that was made for something else does not count. */
export const packNamespace = 'turnlog-pack@v1';

export interface SshSignature {
  readonly publicKey: Uint8Array;
  readonly namespace: string;
  readonly hash: 'sha256' | 'sha512';
  readonly signature: Uint8Array;
}

const magic = Buffer.from('SSHSIG');
const begin = '-----BEGIN SSH SIGNATURE-----';
const end = '-----END SSH SIGNATURE-----';
const lineLength = 70;

function signedData(
  message: Uint8Array,
  { namespace, hash }: Pick<SshSignature, 'namespace' | 'hash'>,
): Uint8Array {
  const digest = createHash(hash).update(message).digest();
  return Buffer.concat([magic, sshString(namespace), sshString(''), sshString(hash), sshString(digest)]);
}

/** The signature file over `message`. */
export async function signSsh(
  message: Uint8Array,
  signer: Signer,
  namespace: string = packNamespace,
): Promise<Uint8Array> {
  const hash = 'sha512';
  const signature = await signer.sign(signedData(message, { namespace, hash }));
  const blob = Buffer.concat([
    magic,
    sshUint32(1),
    sshString(sshPublicKey(signer.publicKey)),
    sshString(namespace),
    sshString(''),
    sshString(hash),
    sshString(Buffer.concat([sshString(ed25519Name), sshString(signature)])),
  ]).toString('base64');
  const lines = [begin];
  for (let at = 0; at < blob.length; at += lineLength) lines.push(blob.slice(at, at + lineLength));
  return Buffer.from(`${[...lines, end].join('\n')}\n`);
}

/**
 * The signature in a file; it is not checked.
 *
 * @throws TURNLOG_BAD_SIGNATURE when it is none of an Ed25519 key.
 */
export function parseSshSignature(file: Uint8Array): SshSignature {
  const text = Buffer.from(file).toString('latin1').trim();
  if (!text.startsWith(begin) || !text.endsWith(end)) throw badSshSignature('it is no SSH signature');
  const reader = new SshReader(Buffer.from(text.slice(begin.length, -end.length), 'base64'));
  const head = reader.bytes(magic.length);
  const version = reader.uint32();
  const key = reader.string();
  const namespace = reader.text();
  reader.string();
  const hash = reader.text();
  const inner = reader.string();
  if (
    head === null ||
    !magic.equals(head) ||
    version !== 1 ||
    key === null ||
    namespace === null ||
    inner === null
  ) {
    throw badSshSignature('it cannot be read');
  }
  const publicKey = readSshPublicKey(key);
  const signed = new SshReader(inner);
  const isEd25519 = signed.text() === ed25519Name;
  const signature = signed.string();
  if (publicKey === null || !isEd25519 || signature === null)
    throw badSshSignature('it is not by an Ed25519 key');
  if (hash !== 'sha256' && hash !== 'sha512') throw badSshSignature('its hash is not known');
  return { publicKey, namespace, hash, signature };
}

/** Whether the signature is by the key that it holds, over `message`, and made for `namespace`. */
export function verifySsh(
  found: SshSignature,
  message: Uint8Array,
  namespace: string = packNamespace,
): boolean {
  if (found.namespace !== namespace) return false;
  return verifyEd25519(found.publicKey, signedData(message, found), found.signature);
}

function badSshSignature(reason: string): TurnlogError {
  return new TurnlogError('TURNLOG_BAD_SIGNATURE', {
    details: { file: 'signature', reason },
    message: `the signature is not one: ${reason}`,
  });
}
