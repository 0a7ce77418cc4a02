import type { DamageKind } from '@turnlog/events';
import { limits, RunningSha256 } from '@turnlog/kernel';
import type { ByteSource } from './line-framer.js';
import { isAdjacentDamage } from './log-fold.js';
import type { ScannedDamage } from './scanner.js';

/** One damaged place: adjacent lines of one kind are one place. */
export interface DamageReport {
  readonly kind: DamageKind;
  /** Bytes from the start of the file, and how many, the last 0x0A not included. */
  readonly offset: number;
  readonly length: number;
  /** How many lines it spans. */
  readonly lines: number;
  /** First of these lines, from 1 on. */
  readonly line: number;
  readonly sha256: string;
}

interface DamagedPlace {
  readonly kind: DamageKind;
  readonly offset: number;
  end: number;
  readonly line: number;
  lastLine: number;
}

/** Collects the damaged places of a scan, up to a limit; the state counts them all. */
export class DamageCollector {
  readonly #places: DamagedPlace[] = [];

  note(damage: ScannedDamage): void {
    const last = this.#places.at(-1) ?? null;
    if (last !== null && isAdjacentDamage(last, damage)) {
      last.end = damage.offset + damage.length;
      last.lastLine = damage.line;
    } else if (this.#places.length < limits.damageReportsMax) {
      const { kind, offset, length, line } = damage;
      this.#places.push({ kind, offset, end: offset + length, line, lastLine: line });
    }
  }

  /** The reports, their digests read from `source`. */
  reports(source: ByteSource): readonly DamageReport[] {
    return this.#places.map((place) => ({
      kind: place.kind,
      offset: place.offset,
      length: place.end - place.offset,
      lines: place.lastLine - place.line + 1,
      line: place.line,
      sha256: digestRange(source, place.offset, place.end),
    }));
  }
}

/** SHA-256 of the bytes from `start` to `end` of a source, read a block at a time. */
export function digestRange(source: ByteSource, start: number, end: number): string {
  const digest = new RunningSha256();
  const block = new Uint8Array(Math.min(limits.readBlockBytes, end - start));
  for (let offset = start; offset < end; ) {
    const count = source.read(block.subarray(0, Math.min(block.length, end - offset)), offset);
    if (count === 0) break;
    digest.update(block.subarray(0, count));
    offset += count;
  }
  return digest.digestHex();
}
