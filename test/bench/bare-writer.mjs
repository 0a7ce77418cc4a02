// The references that an append is measured against: what any log of JSON lines must do at least.

import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';

const ts = '2026-10-05T08:30:00.125Z';
const bufferBytes = 65_536;

/** `JSON.stringify`, UTF-8 into one reused buffer, one write for each 64 KiB; nothing is checked or derived. */
export class BareWriter {
  #bytes = Buffer.allocUnsafe(4_194_304);
  #length = 0;
  #seq = 0;
  #descriptor;

  /** @param path null keeps the bytes in memory: what is full is forgotten. */
  constructor(path) {
    this.#descriptor = path === null ? null : openSync(path, 'ax', 0o600);
  }

  append(event) {
    this.#seq += 1;
    const text = JSON.stringify({ schema_version: '0.18.0', seq: this.#seq, ts, event });
    this.#length += this.#bytes.write(text, this.#length);
    this.#bytes[this.#length] = 0x0a;
    this.#length += 1;
    if (this.#length >= bufferBytes) this.flush();
  }

  flush() {
    if (this.#descriptor !== null) {
      for (let at = 0; at < this.#length; )
        at += writeSync(this.#descriptor, this.#bytes, at, this.#length - at);
    }
    this.#length = 0;
  }

  sync() {
    this.flush();
    fdatasyncSync(this.#descriptor);
  }

  close() {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
  }
}
