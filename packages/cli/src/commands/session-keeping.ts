import {
  deleteSession,
  listPins,
  pinSession,
  planDeletion,
  restoreSession,
  unpinSession,
} from '@turnlog/store';
import type { Context } from '../command.js';
import { confirm } from '../confirm.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import * as flags from '../flags.js';

const reasonCodePointsMax = 200;

/** Pins a session: it is not removed. */
export async function pin(context: Context, reference: string): Promise<number> {
  const { args, output } = context;
  const reason = args.get(flags.reasonFlag) ?? '';
  if (reason.trim() === '') throw badFlag('session pin wants --reason R', { flag: 'reason' });
  if (/\p{Cc}/u.test(reason) || [...reason].length > reasonCodePointsMax) {
    throw badFlag(`a reason is one line of at most ${reasonCodePointsMax} characters`, { flag: 'reason' });
  }
  const store = await context.openStore();
  const id = store.resolve(reference);
  const isChanged = await pinSession(store, id, reason);
  const pinnedAt = listPins(store).get(id)?.pinnedAt ?? null;
  if (output.form === 'text') {
    await output.note(output.shown`${id}: ${isChanged ? 'is pinned' : 'was pinned already'}`);
  } else await output.document({ id, pinned: true, changed: isChanged, reason, pinned_at: pinnedAt });
  return exits.done;
}

/** Takes a pin away. */
export async function unpin(context: Context, reference: string): Promise<number> {
  const { output } = context;
  const store = await context.openStore();
  const id = store.resolve(reference);
  const isChanged = await unpinSession(store, id);
  if (output.form === 'text') {
    await output.note(output.shown`${id}: ${isChanged ? 'is not pinned any more' : 'was not pinned'}`);
  } else await output.document({ id, pinned: false, changed: isChanged });
  return exits.done;
}

/** Moves a session to the trash. What is destroyed is named in full. */
export async function remove(context: Context, id: string): Promise<number> {
  const { args, output } = context;
  const { shown } = output;
  const isDry = args.has(flags.dryRunFlag);
  const store = await context.openStore();
  const { events, turns, bytes, forks } = planDeletion(store, id);
  const what = shown`${id}, ${turns} turns, ${events} events`;
  const warning = forks.length === 0 ? '' : `; ${forks.length} forks of it stay`;
  if (!isDry) await confirm(context, shown`Move ${what} to the trash${warning}?`);
  const trash = isDry ? null : (await deleteSession(store, id)).trash;
  if (output.form === 'text') {
    await output.note(
      trash === null
        ? shown`would move ${what} to the trash${warning}`
        : shown`${id} is in the trash as ${trash}`,
    );
  } else await output.document({ id, dry_run: isDry, trash, turns, events, bytes, forks });
  return exits.done;
}

/** Makes a removed session a session again. */
export async function restore(context: Context, trash: string): Promise<number> {
  const { args, output } = context;
  const isDry = args.has(flags.dryRunFlag);
  const store = await context.openStore();
  const id = await restoreSession(store, trash, isDry ? 'look' : 'move');
  if (output.form === 'text') {
    await output.note(output.shown`${id} ${isDry ? 'would be' : 'is'} a session again`);
  } else await output.document({ id, dry_run: isDry, trash });
  return exits.done;
}
