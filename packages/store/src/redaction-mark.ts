/**
 * What takes the place of a secret: `[redacted:<kind>:<8 hex digits>]`.
 *
 * The digits are the beginning of an HMAC-SHA-256 (RFC 2104) of the secret with the key of the store: equal
 * secrets stay equal, and without the key nobody can try out which secret it was.
 */

import { sha256, sha256Hex } from '@turnlog/kernel';
import { wall } from './redaction-text.js';

/** Marks as they stand in texts. */
const mark = /\[redacted:[a-z][a-z-]{0,31}:[0-9a-f]{8}\]/g;

/** `text` with every mark as long a wall, so that all places stay where they are. */
export function withWalls(text: string): string {
  if (!text.includes('[redacted:')) return text;
  return text.replace(mark, (found) => wall.repeat(found.length));
}

/** The mark of a secret that a kind has found. */
export type MarkOf = (kind: string, secret: string) => string;

const blockBytes = 64;
const encoder = new TextEncoder();

/** HMAC-SHA-256 with one key. */
export class KeyedDigest {
  readonly #inner: Uint8Array;
  readonly #outer: Uint8Array;

  constructor(key: Uint8Array) {
    const block = new Uint8Array(blockBytes);
    block.set(key.length > blockBytes ? sha256(key) : key);
    this.#inner = block.map((byte) => byte ^ 0x36);
    this.#outer = block.map((byte) => byte ^ 0x5c);
  }

  /** 64 lower-case hex digits. */
  hexOf(bytes: Uint8Array): string {
    const inner = sha256(Buffer.concat([this.#inner, bytes]));
    return sha256Hex(Buffer.concat([this.#outer, inner]));
  }

  markOf(kind: string, secret: string): string {
    return `[redacted:${kind}:${this.hexOf(encoder.encode(secret)).slice(0, 8)}]`;
  }
}
