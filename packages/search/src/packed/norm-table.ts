import { lengthNorm } from '../bm25.js';

/** `lengthNorm` by len, for one mean. */
export class NormTable {
  values: Float64Array = new Float64Array(0);
  #averageLen = Number.NaN;

  fill(averageLen: number, lenMax: number): void {
    if (averageLen === this.#averageLen && lenMax < this.values.length) return;
    this.#averageLen = averageLen;
    this.values = Float64Array.from({ length: Math.max(lenMax + 1, this.values.length) }, (_, len) =>
      lengthNorm(len, averageLen),
    );
  }

  get byteLength(): number {
    return this.values.byteLength;
  }
}
