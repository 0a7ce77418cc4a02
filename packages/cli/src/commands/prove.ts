import { resolve } from 'node:path';
import {
  consistencyJson,
  inclusionJson,
  type Pack,
  parsePack,
  proveConsistency,
  proveInclusion,
  type TreeRoot,
} from '@turnlog/audit';
import { limits, TurnlogError } from '@turnlog/kernel';
import type { LogReader } from '@turnlog/log';
import * as auditFlags from '../audit-flags.js';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import { readNamedFile } from '../named-file.js';

/** Prints the proof that a record is in a log, or that the log of one pack goes on from that of another. */
export async function prove(context: Context): Promise<number> {
  const { args, output } = context;
  const [reference, seq] = args.positionals;
  const from = args.get(auditFlags.fromPackFlag);
  const to = args.get(auditFlags.toPackFlag);
  const isConsistency = from !== undefined || to !== undefined;
  if (isConsistency) {
    if (from === undefined || to === undefined) throw badFlag('--from and --to go together', {});
    if (seq !== undefined) throw badFlag('a consistency proof is about no single record', { argument: seq });
    await output.document(await consistency(context, reference, from, to));
    return exits.done;
  }
  if (reference === undefined || seq === undefined)
    throw badFlag('prove takes ID SEQ, or --from PACK --to PACK', {});
  const store = await context.openStore();
  const reader = store.read(store.resolve(reference), { tree: 'hashed' });
  const proof = reading(reader, () =>
    inclusionJson(proveInclusion(store.environment.fs, reader, Number(seq))),
  );
  await output.document({ session_id: reader.sessionId, ...proof });
  return exits.done;
}

function reading<Result>(reader: LogReader, work: () => Result): Result {
  try {
    return work();
  } finally {
    reader.close();
  }
}

async function consistency(
  context: Context,
  reference: string | undefined,
  from: string,
  to: string,
): Promise<Readonly<Record<string, unknown>>> {
  const [earlier, later] = [packAt(context, from), packAt(context, to)];
  if (earlier.sessionId !== later.sessionId) {
    throw badFlag('the packs are of different sessions', { from: earlier.sessionId, to: later.sessionId });
  }
  const [first, last] = [headOf(earlier, from), headOf(later, to)];
  if (first.size > last.size)
    throw badFlag('--from is the earlier pack', { from: first.size, to: last.size });
  const store = await context.openStore();
  const reader = store.read(reference === undefined ? later.sessionId : store.resolve(reference));
  const proof = reading(reader, () =>
    consistencyJson(proveConsistency(store.environment.fs, reader, first, last)),
  );
  return { session_id: reader.sessionId, ...proof };
}

function packAt({ io, cwd }: Context, name: string): Pack {
  return parsePack(readNamedFile(io.environment?.fs, resolve(cwd, name), limits.packBytesMax));
}

function headOf({ own }: Pack, name: string): TreeRoot {
  if (own !== null) return { size: own.tree.size, root: own.tree.root };
  throw new TurnlogError('TURNLOG_INVALID_PACK', {
    details: { path: name, place: 'tree' },
    message: `the pack has no tree: ${name}`,
  });
}
