import { canonicalJson, type JsonValue } from './canonical-json.js';
import { sha256Hex } from './sha256.js';

const encoder = new TextEncoder();

/**
 * SHA-256 of the canonical text of a value, as 64 lower-case hex digits: equal for everything that says the same,
 * whatever the order of its members. What names one build of a thing, such as a generation, is left out by the caller.
 */
export function logicalDigest(value: JsonValue): string {
  return sha256Hex(encoder.encode(canonicalJson(value)));
}
