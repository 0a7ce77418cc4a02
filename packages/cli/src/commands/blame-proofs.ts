import { inclusionJson, proveInclusion } from '@turnlog/audit';
import { isTurnlogError, type TurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';

/** What names a record. */
interface RecordName {
  readonly session: string;
  readonly seq: number;
}

/** A record of which it could not be shown that it is in its log. */
export interface Unproven extends RecordName {
  readonly error: TurnlogError;
}

export interface BlameProofs {
  /** As `turnlog prove` prints it; null where there is none. */
  of(record: RecordName): Proof | null;
  readonly unproven: readonly Unproven[];
}

export type Proof = ReturnType<typeof inclusionJson>;

/** Proves of each record that it is in its log as it is now (SE-40, audit AU-21). Each log is opened once. */
export function proveRecords(store: Store, records: readonly RecordName[]): BlameProofs {
  const proofs = new Map<string, Proof>();
  const unproven: Unproven[] = [];
  for (const session of new Set(records.map((record) => record.session))) {
    const reader = store.read(session, { tree: 'hashed' });
    try {
      for (const { seq } of records.filter((record) => record.session === session)) {
        try {
          const proof = proveInclusion(store.environment.fs, reader, seq);
          proofs.set(nameOf({ session, seq }), inclusionJson(proof));
        } catch (error) {
          if (!isTurnlogError(error)) throw error;
          unproven.push({ session, seq, error });
        }
      }
    } finally {
      reader.close();
    }
  }
  return { of: (record) => proofs.get(nameOf(record)) ?? null, unproven };
}

function nameOf({ session, seq }: RecordName): string {
  return `${session}:${seq}`;
}
