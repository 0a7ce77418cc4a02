import { resolve } from 'node:path';
import {
  agentSigner,
  type PackOptions,
  type PackReport,
  packSession,
  packStore,
  readPublicKeyFile,
  readSigner,
  type Signer,
  type StorePackReport,
} from '@turnlog/audit';
import { limits, TurnlogError } from '@turnlog/kernel';
import { AssetStore, type Store } from '@turnlog/store';
import * as auditFlags from '../audit-flags.js';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import { readNamedFile } from '../named-file.js';

/** Makes the audit pack of a session, or of the store. */
export async function pack(context: Context): Promise<number> {
  const { args } = context;
  const [reference] = args.positionals;
  const isStore = args.has(auditFlags.storePackFlag);
  if (isStore === (reference !== undefined)) throw badFlag('pack takes an ID, or --store', {});
  if (isStore && args.has(auditFlags.bundleFlag))
    throw badFlag('a bundle is of one session', { flag: 'bundle' });
  const store = await context.openStore();
  const options = await optionsOf(context, store);
  if (reference === undefined) {
    const report = await packStore(store, options);
    await print(context, report, report.unread);
    return report.unread.length > 0 ? exits.negative : exits.done;
  }
  const sessionId = store.resolve(reference);
  // Whoever asks for a session that is not there hears that, and not what a pack of nothing would be.
  store.read(sessionId, { unreadable: 'show' }).close();
  const place = { directory: store.sessionDirectory(sessionId), sessionId };
  await print(context, await packSession(store.environment, place, options), []);
  return exits.done;
}

async function optionsOf(context: Context, store: Store): Promise<PackOptions> {
  const { args, cwd, io } = context;
  const out = args.get(auditFlags.packDirectoryFlag);
  const bundle = args.get(auditFlags.bundleFlag);
  const origin = args.get(auditFlags.originFlag);
  const signer = await signerOf(context);
  const isWithAssets = args.has(auditFlags.withAssetsFlag) || bundle !== undefined;
  return {
    mode: args.has(auditFlags.deepPackFlag) ? 'deep' : 'since-last',
    record: args.has(auditFlags.noRecordFlag) ? 'none' : 'append',
    ...(out === undefined ? {} : { out: resolve(cwd, out) }),
    ...(bundle === undefined ? {} : { bundle: resolve(cwd, bundle) }),
    ...(origin === undefined ? {} : { origin }),
    ...(signer === null ? {} : { signer }),
    ...(io.hashWorkers === undefined ? {} : { workers: io.hashWorkers }),
    ...(isWithAssets ? { assets: new AssetStore(store.environment, store.root) } : {}),
  };
}

/** Keys come from files and agents, never from the command line itself; null where nobody signs. */
async function signerOf({ args, io, cwd }: Context): Promise<Signer | null> {
  const named = args.get(auditFlags.signingKeyFlag);
  const file = named ?? io.env['TURNLOG_KEY_FILE'];
  const path = file === undefined || file === '' ? null : resolve(cwd, file);
  const bytes = path === null ? null : readNamedFile(io.environment?.fs, path, limits.signatureFileBytesMax);
  if (!args.has(auditFlags.sshAgentFlag))
    return bytes === null || path === null ? null : readSigner(bytes, path);
  const socket = io.env['SSH_AUTH_SOCK'] ?? '';
  if (socket === '') {
    throw new TurnlogError('TURNLOG_BAD_CONFIG', {
      details: { variable: 'SSH_AUTH_SOCK' },
      message: 'there is no ssh-agent: SSH_AUTH_SOCK is not set',
    });
  }
  return await agentSigner(socket, bytes === null ? null : readPublicKeyFile(bytes));
}

async function print(
  { output }: Context,
  report: PackReport | StorePackReport,
  unread: readonly string[],
): Promise<void> {
  const { pack: made, path, sha256, files, isLocked, recordSeq, isPreviousForeign } = report;
  const tree = made.own?.tree;
  if (output.form !== 'text') {
    await output.document({
      session_id: made.sessionId,
      path,
      sha256,
      files,
      entries: made.entries.length,
      tree: { size: tree?.size ?? 0, root: tree?.root ?? null, evicted: tree?.evicted ?? 0 },
      sessions: made.own?.sessions?.length ?? null,
      assets: made.own?.assets.length ?? 0,
      previous: made.own?.previous?.packSha256 ?? null,
      held_still: isLocked,
      record_seq: recordSeq,
      unread,
    });
  } else {
    const { shown } = output;
    const what = `${made.entries.length} files, ${tree?.size ?? 0} records, root ${tree?.root ?? ''}`;
    await output.lines([shown`${path}`, shown`${what}`]);
  }
  for (const id of unread) await output.warn(output.shown`${id} cannot be read and is not in the pack`);
  if (isPreviousForeign)
    await output.warn(output.shown`the log does not go on from the pack that was there before`);
}
