/** Where random names come from. */
export interface Ids {
  /** `bytes` random bytes as lower-case hex digits. */
  randomHex(bytes: number): string;
  /** A whole number from 0 to `limit - 1`; for jitter, never for names. */
  randomBelow(limit: number): number;
}
