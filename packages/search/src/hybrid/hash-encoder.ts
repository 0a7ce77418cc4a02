import { tokenize } from '../tokenizer.js';
import type { Encoder, EncoderProvider } from './encoder.js';

/**
 * `hash-512/1`: vectors without a model, of any script, from the tokens of the tokenizer alone.
 *
 * Features of a text: `w:t` for each token, weight 1; `b:t next` for each token and the one behind it, 0.5; `c:` and
 * each run of 3 to 5 code points of `<t>`, 0.35. Equal features add their weights. With h, the FNV-1a hash in 32 bits
 * of the feature's UTF-8, the square root of the weight is added to number h mod 512 of the vector, or taken from it
 * where the highest bit of h is set. The vector is brought to length 1; a text without token has none.
 */
export const hashEncoder: Encoder = {
  id: 'hash-512/1',
  dims: 512,
  floor: 0.15,
  supports: (text) => tokenize(text).length > 0,
  segments: (text) => (tokenize(text).length > 0 ? [text] : []),
  encode: async (segments) => segments.map(vectorOf),
};

export const hashEncoderProvider: EncoderProvider = {
  name: hashEncoder.id,
  open: async () => ({ kind: 'ready', encoder: hashEncoder }),
};

const dims = 512;
const weights = { word: 1, pair: 0.5, piece: 0.35 } as const;
const pieceCodePoints = [3, 4, 5] as const;

function vectorOf(text: string): Float32Array {
  const sums = new Float64Array(dims);
  for (const [feature, weight] of featuresOf(text)) {
    const hash = fnv1a(feature);
    const part = Math.sqrt(weight);
    const at = hash % dims;
    sums[at] = (sums[at] ?? 0) + (hash >= 0x8000_0000 ? -part : part);
  }
  let square = 0;
  for (const sum of sums) square += sum * sum;
  const length = Math.sqrt(square);
  return Float32Array.from(sums, (sum) => (length === 0 ? 0 : sum / length));
}

function featuresOf(text: string): ReadonlyMap<string, number> {
  const features = new Map<string, number>();
  const add = (feature: string, weight: number): void => {
    features.set(feature, (features.get(feature) ?? 0) + weight);
  };
  const tokens = tokenize(text).flatMap((group) => group.tokens.map((token) => token.text));
  for (const [at, token] of tokens.entries()) {
    add(`w:${token}`, weights.word);
    const next = tokens[at + 1];
    if (next !== undefined) add(`b:${token} ${next}`, weights.pair);
    for (const piece of piecesOf(token)) add(`c:${piece}`, weights.piece);
  }
  return features;
}

function* piecesOf(token: string): Iterable<string> {
  const framed = `<${token}>`;
  // Most tokens are ASCII, whose code points are their units.
  const codePoints = isAscii(framed) ? null : Array.from(framed);
  const count = codePoints?.length ?? framed.length;
  for (const length of pieceCodePoints) {
    for (let at = 0; at + length <= count; at += 1) {
      yield codePoints?.slice(at, at + length).join('') ?? framed.slice(at, at + length);
    }
  }
}

/** FNV-1a in 32 bits of the UTF-8 of a text (the algorithm of Fowler, Noll and Vo). */
export function fnv1a(text: string): number {
  let hash = 0x811c_9dc5;
  if (isAscii(text)) {
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  } else {
    for (const byte of utf8.encode(text)) hash = Math.imul(hash ^ byte, 0x0100_0193);
  }
  return hash >>> 0;
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

const utf8 = new TextEncoder();
