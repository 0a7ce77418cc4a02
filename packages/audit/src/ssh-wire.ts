/** Strings and numbers as the SSH protocols write them (RFC 4251, section 5). */

export function sshString(value: Uint8Array | string): Uint8Array {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([sshUint32(bytes.length), bytes]);
}

export function sshUint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Takes such values from bytes one after the other; null when the bytes end before, and never more than they hold. */
export class SshReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  bytes(count: number): Uint8Array | null {
    if (count > this.#bytes.length - this.#at) return null;
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  uint32(): number | null {
    return this.bytes(4) === null ? null : this.#bytes.readUInt32BE(this.#at - 4);
  }

  string(): Uint8Array | null {
    const length = this.uint32();
    return length === null ? null : this.bytes(length);
  }

  text(): string | null {
    const bytes = this.string();
    return bytes === null ? null : Buffer.from(bytes).toString('utf8');
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }
}

export const ed25519Name = 'ssh-ed25519';

/** A public key as SSH writes it. */
export function sshPublicKey(publicKey: Uint8Array): Uint8Array {
  return Buffer.concat([sshString(ed25519Name), sshString(publicKey)]);
}

/** The 32 bytes of an Ed25519 key that SSH wrote; null for any other. */
export function readSshPublicKey(blob: Uint8Array): Uint8Array | null {
  const reader = new SshReader(blob);
  const name = reader.text();
  const key = reader.string();
  return name === ed25519Name && key?.length === 32 && reader.isAtEnd ? key : null;
}
