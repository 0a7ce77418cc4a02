/**
 * Turns texts into vectors of unit length whose cosine says how alike the texts are. Nothing is downloaded, and no
 * socket is opened: what an encoder needs lies in its package.
 */
export interface Encoder {
  /**
   * Names all that the vectors depend on: those of another id are never compared with them. What stands before its
   * first `/` names the encoder, the rest its version; vectors of other versions are removed when new ones are written.
   */
  readonly id: string;
  readonly dims: number;
  /** A lower cosine says nothing. */
  readonly floor: number;
  /** Whether the vectors of this text mean anything. */
  supports(text: string): boolean;
  /** The pieces of a text that are encoded one by one; none where nothing in it can be. */
  segments(text: string): readonly string[];
  /** One vector for each segment, in their order; null for one that came to nothing. */
  encode(segments: readonly string[]): Promise<readonly (Float32Array | null)[]>;
}

export type OpenedEncoder =
  | { readonly kind: 'ready'; readonly encoder: Encoder }
  | { readonly kind: 'absent'; readonly reason: string };

/** An encoder that may be there; it is opened when it is first wanted. */
export interface EncoderProvider {
  readonly name: string;
  open(): Promise<OpenedEncoder>;
}
