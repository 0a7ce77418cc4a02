import { connect, type Socket } from 'node:net';
import { limits, TurnlogError } from '@turnlog/kernel';
import { type Signer, unusableKey } from './ed25519.js';
import { ed25519Name, readSshPublicKey, SshReader, sshPublicKey, sshString, sshUint32 } from './ssh-wire.js';

/**
 * Signing with a key that an ssh-agent keeps (draft-miller-ssh-agent): the key never comes here. One question is one
 * connection.
 */

const askIdentities = 11;
const identities = 12;
const askSignature = 13;
const signatureAnswer = 14;

/**
 * The signer behind the agent at `socketPath`: the key `wanted`, else its first Ed25519 key.
 *
 * @throws TURNLOG_BAD_CONFIG when the agent has no such key; TURNLOG_IO when it cannot be asked.
 */
export async function agentSigner(socketPath: string, wanted: Uint8Array | null): Promise<Signer> {
  const answer = new SshReader(await ask(socketPath, Buffer.of(askIdentities), identities));
  const count = answer.uint32() ?? 0;
  for (let at = 0; at < count; at += 1) {
    const blob = answer.string();
    answer.string();
    if (blob === null) break;
    const publicKey = readSshPublicKey(blob);
    if (publicKey === null || (wanted !== null && Buffer.compare(publicKey, wanted) !== 0)) continue;
    return { publicKey, sign: (data) => signWith(socketPath, publicKey, data) };
  }
  throw unusableKey(socketPath, 'the agent has no such Ed25519 key');
}

async function signWith(socketPath: string, publicKey: Uint8Array, data: Uint8Array): Promise<Uint8Array> {
  const request = Buffer.concat([
    Buffer.of(askSignature),
    sshString(sshPublicKey(publicKey)),
    sshString(data),
    sshUint32(0),
  ]);
  const blob = new SshReader(await ask(socketPath, request, signatureAnswer)).string();
  const inner = new SshReader(blob ?? new Uint8Array(0));
  const name = inner.text();
  const signature = inner.string();
  if (name === ed25519Name && signature?.length === 64) return signature;
  throw unusableKey(socketPath, 'the agent gave no Ed25519 signature');
}

/** Sends one message and takes one answer, of which the body is returned. */
function ask(socketPath: string, message: Uint8Array, expected: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(socketPath);
    let held = Buffer.alloc(0);
    const fail = (reason: string, cause?: unknown): void => {
      socket.destroy();
      reject(agentFailed(socketPath, reason, cause));
    };
    socket.setTimeout(limits.agentWaitMs, () => fail('it does not answer'));
    socket.on('error', (cause) => fail('it cannot be reached', cause));
    socket.on('close', () => fail('it ended the conversation'));
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk]);
      const length = held.length < 4 ? 0 : held.readUInt32BE(0);
      if (length > limits.agentMessageBytesMax) return fail('its answer is too long');
      if (length === 0 || held.length < 4 + length) return;
      if (held[4] !== expected) return fail('it refuses');
      resolve(held.subarray(5, 4 + length));
      socket.destroy();
    });
    socket.write(Buffer.concat([sshUint32(message.length), message]));
  });
}

function agentFailed(path: string, reason: string, cause?: unknown): TurnlogError {
  const errno: unknown = cause instanceof Error && 'code' in cause ? cause.code : null;
  return new TurnlogError('TURNLOG_IO', {
    details: {
      operation: 'ssh-agent',
      path,
      errno: typeof errno === 'string' ? errno : null,
      outcome: 'none',
    },
    message: `the ssh-agent at ${path}: ${reason}`,
    ...(cause === undefined ? {} : { cause }),
  });
}
