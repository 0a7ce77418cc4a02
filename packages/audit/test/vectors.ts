import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ConsistencyProof, InclusionProof, TreeRoot } from '@turnlog/audit';

/** The published vectors, which a script without product code has made. */
export const vectorsFolder: string = resolve(__dirname, '../../../test/vectors/audit');

function read<Value>(name: string): Value {
  return JSON.parse(readFileSync(join(vectorsFolder, name), 'utf8'));
}

export interface TreeVectors {
  readonly lines: readonly string[];
  readonly leaves: readonly string[];
  readonly sizes: readonly (TreeRoot & { readonly frontier: readonly string[] })[];
  readonly inclusion: readonly InclusionProof[];
  readonly consistency: readonly ConsistencyProof[];
  readonly rfc6962: { readonly inputs: readonly string[]; readonly roots: readonly TreeRoot[] };
}

export const treeVectors = (): TreeVectors => read('tree.json');

interface PathVector {
  readonly path: readonly string[];
}

export interface EvictedVector {
  readonly cut: number;
  readonly header: string;
  readonly leaves_file: string;
  readonly roots: readonly TreeRoot[];
  readonly with_neither: {
    readonly inclusion: PathVector & { readonly index: number };
    readonly consistency: PathVector & { readonly from: number };
  };
  readonly with_leaves: {
    readonly inclusion: PathVector & { readonly index: number };
    readonly consistency: PathVector & { readonly from: number };
  };
}

export const evictedVectors = (): readonly EvictedVector[] =>
  read<{ readonly cuts: readonly EvictedVector[] }>('evicted.json').cuts;

export interface RedactedVariant {
  readonly lines: readonly string[];
  readonly roots: readonly TreeRoot[];
  readonly redacted: readonly {
    readonly index: number;
    readonly seq: number;
    readonly statement_seq: number | null;
  }[];
  readonly unexplained: readonly { readonly index: number; readonly seq: number }[];
}

export interface RedactedVectors {
  readonly original: { readonly lines: readonly string[]; readonly root: string };
  readonly explained: RedactedVariant;
  readonly unexplained: RedactedVariant;
  readonly silent: RedactedVariant;
  readonly salted: {
    readonly lines: readonly string[];
    readonly leaves: readonly string[];
    readonly redacted: readonly string[];
    readonly root: string;
  };
}

export const redactedVectors = (): RedactedVectors => read('redacted.json');

export interface NoteVectors {
  readonly checkpoint: TreeRoot & { readonly origin: string };
  readonly keys: readonly { readonly name: string; readonly key_id: string; readonly public: string }[];
  readonly notes: readonly {
    readonly what: string;
    readonly note: string;
    readonly checks: readonly string[];
  }[];
}

export const noteVectors = (): NoteVectors => read('notes.json');

export interface ForgedVectors {
  readonly inclusion: readonly {
    readonly what: string;
    readonly proof: InclusionProof;
    readonly trusted: TreeRoot;
    readonly accept: boolean;
  }[];
  readonly consistency: readonly {
    readonly what: string;
    readonly proof: ConsistencyProof;
    readonly trusted: Pick<ConsistencyProof, 'from' | 'to'>;
    readonly accept: boolean;
  }[];
}

export const forgedVectors = (): ForgedVectors => read('proofs-forged.json');
