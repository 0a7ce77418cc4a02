import { resolve } from 'node:path';
import {
  type Comparison,
  type Findings,
  findingsJson,
  isLeafOf,
  type Mismatch,
  type ProofFile,
  parseProofFile,
  parseTrustedKeys,
  type RemovedSession,
  type TrustedKey,
  type Verdict,
  verdictExits,
  verdictOn,
  verifyConsistency,
  verifyCopy,
  verifyInclusion,
  verifySession,
  verifyStore,
} from '@turnlog/audit';
import { peekRecord } from '@turnlog/events';
import { createNodeFileSystem } from '@turnlog/fs';
import { limits } from '@turnlog/kernel';
import { AssetStore, type Store } from '@turnlog/store';
import * as auditFlags from '../audit-flags.js';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import { readNamedFile } from '../named-file.js';

/** Compares a session, a copy of one, or the store with its pack; or checks a proof. Changes nothing. */
export async function verify(context: Context): Promise<number> {
  const { args } = context;
  const proof = args.get(auditFlags.proofFlag);
  if (proof !== undefined) return await verifyProof(context, proof);
  if (args.has(auditFlags.proofRecordFlag)) throw badFlag('--record goes with --proof', { flag: 'record' });
  const found = await findingsOf(context);
  await print(context, found);
  return verdictExits[verdictOn(found)];
}

async function findingsOf(context: Context): Promise<Findings> {
  const { args, io } = context;
  const [reference] = args.positionals;
  const directory = args.get(auditFlags.copyDirectoryFlag);
  const request = requestOf(context);
  if (reference === undefined && directory !== undefined) {
    return await verifyCopy(
      io.environment?.fs ?? createNodeFileSystem(),
      resolve(context.cwd, directory),
      request,
    );
  }
  const store = await context.openStore();
  const assets = args.has(auditFlags.withAssetsFlag) ? { assets: assetsOf(store) } : {};
  if (reference === undefined) return await verifyStore(store, { ...request, ...assets });
  const packSource = directory === undefined ? {} : { packSource: resolve(context.cwd, directory) };
  return await verifySession(store, reference, { ...request, ...assets, ...packSource });
}

function assetsOf(store: Store): AssetStore {
  return new AssetStore(store.environment, store.root);
}

function requestOf(context: Context): Comparison {
  const { args, clock, io } = context;
  return {
    extent: args.has(auditFlags.exactFlag) ? 'exact' : 'as-of-pack',
    trusted: trustedKeys(context),
    require: {
      pack: args.has(auditFlags.requirePackFlag),
      signature: args.has(auditFlags.requireSignatureFlag),
    },
    nowMs: clock.now(),
    ...(io.hashWorkers === undefined ? {} : { workers: io.hashWorkers }),
  };
}

function trustedKeys({ args, io, cwd }: Context): readonly TrustedKey[] {
  const file = args.get(auditFlags.trustFlag) ?? io.env['TURNLOG_TRUST_FILE'] ?? '';
  if (file === '') return [];
  const path = resolve(cwd, file);
  return parseTrustedKeys(readNamedFile(io.environment?.fs, path, limits.signatureFileBytesMax), path);
}

async function print({ output }: Context, found: Findings): Promise<void> {
  const verdict = verdictOn(found);
  const { tree } = found;
  if (output.form !== 'text') {
    await output.document(findingsJson(found));
    return;
  }
  const { shown } = output;
  const colour = verdict === 'verified' ? 'green' : 'red';
  const list = (word: string, names: readonly string[]) => names.map((name) => shown`${word}  ${name}`);
  await output.lines([
    shown`${output.paint(colour, verdict)}  ${found.assurance}, completeness ${found.completeness}`,
    ...[found.invalid, found.badSignature].flatMap((reason) => (reason === null ? [] : [shown`${reason}`])),
    ...(found.packSha256 === null
      ? [shown`no pack: the log was compared with itself only`]
      : [
          shown`${tree.size ?? 'unknown'} records, root ${tree.root ?? 'unknown'}, ${tree.grownBy} came since`,
        ]),
    ...(found.removed === null ? [] : [shown`${removedText(found.removed)}`]),
    ...found.mismatches.map((mismatch) => shown`mismatch  ${mismatchText(mismatch)}`),
    ...list('missing', found.missing),
    ...list('unproven', found.unproven),
    ...tree.redacted.map((redacted) => shown`redacted  ${redactedText(redacted)}`),
    ...list('stale', found.stale),
    ...list('unaccounted', found.unaccounted),
  ]);
}

function redactedText({ seq, statementSeq }: Findings['tree']['redacted'][number]): string {
  return statementSeq === null ? `seq ${seq}` : `seq ${seq}, as seq ${statementSeq} says`;
}

function removedText(removed: RemovedSession): string {
  const agrees = (what: string, does: boolean) => `${what} ${does ? 'as packed' : 'other than packed'}`;
  return [
    `removed ${removed.removedAt ?? 'at an unknown time'}, as record ${removed.ledgerSeq} of the ledger says: ${removed.reason}`,
    agrees('size', removed.isSizeAsPacked),
    agrees('root', removed.isRootAsPacked),
  ].join(', ');
}

function mismatchText({
  path,
  reason,
  diagnosis,
  seq,
  leavesGone,
  leavesIntact,
  transform,
}: Mismatch): string {
  return [
    path ?? 'the session',
    reason,
    ...(diagnosis === null ? [] : [diagnosis]),
    ...(transform === null ? [] : [transform]),
    ...(seq === null ? [] : [`seq ${seq}`]),
    ...(leavesGone === null || leavesGone === 0 ? [] : [`${leavesGone} records gone`]),
    ...(leavesIntact === null ? [] : [`${leavesIntact} intact`]),
  ].join(', ');
}

/** Checks a proof with nothing but what it says, and the record that it must be about where that is given. */
async function verifyProof(context: Context, name: string): Promise<number> {
  const { args, output, io, cwd } = context;
  if (args.positionals.length > 0) throw badFlag('--proof takes no ID', { argument: args.positionals[0] });
  const fs = io.environment?.fs;
  const file = parseProofFile(readNamedFile(fs, resolve(cwd, name), limits.proofFileBytesMax));
  const recordName = args.get(auditFlags.proofRecordFlag);
  if (file.kind === 'consistency' && recordName !== undefined)
    throw badFlag('the proof is about no record', {});
  const record =
    recordName === undefined ? null : readNamedFile(fs, resolve(cwd, recordName), limits.readerLineBytesMax);
  const isValid = isProofValid(file, record);
  const verdict: Verdict = isValid ? 'verified' : 'mismatch';
  if (output.form === 'text') await output.lines([output.shown`${verdict}  ${file.kind}`]);
  else {
    const exit = verdictExits[verdict];
    await output.document({ verdict, exit, proof: file.kind, assurance: 'self-attested' });
  }
  return isValid ? exits.done : exits.negative;
}

function isProofValid(file: ProofFile, record: Uint8Array | null): boolean {
  if (file.kind === 'consistency') return verifyConsistency(file.proof);
  return verifyInclusion(file.proof) && (record === null || isRecordOf(file.proof, record));
}

const lineFeed = 0x0a;

/** Whether a file holds the line of a proof; its 0x0A may be there or not. */
function isRecordOf(proof: { readonly leaf: string; readonly seq: number }, bytes: Uint8Array): boolean {
  const line = bytes.at(-1) === lineFeed ? bytes.subarray(0, -1) : bytes;
  const record = peekRecord(line, 0, line.length);
  const isSameSeq = typeof record === 'string' || record.statedSeq === null || record.statedSeq === proof.seq;
  return isSameSeq && isLeafOf(proof, line);
}
