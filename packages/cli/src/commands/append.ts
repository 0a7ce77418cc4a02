import { limits, type SessionId, TurnlogError } from '@turnlog/kernel';
import { type AppendOptions, checkEvent } from '@turnlog/log';
import { parseSessionId, type Store } from '@turnlog/store';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import * as flags from '../flags.js';
import { readWholeInput } from '../input.js';
import { lockWaitOf } from '../stopping.js';

/** Appends one event: lock, catch up, append, make durable, unlock. */
export async function append(context: Context): Promise<number> {
  const { args, io, output } = context;
  const id = parseSessionId(args.positionals[0] ?? '');
  const raw =
    args.get(flags.eventFlag) ?? (await readWholeInput(io.stdin, context.stop, limits.writerLineBytesMax));
  // Who was stopped before the input had ended knows no event.
  if (context.stop.aborted) return exits.negative;
  const event = { raw: raw.trim() };
  const key = args.get(flags.keyFlag);
  // Whatever the event itself is refused for is found before anything is created.
  checkEvent(event, key);
  const store = await context.openStore();
  const expectLast = args.get(flags.expectSeqFlag);
  const options: AppendOptions = {
    ...(key === undefined ? {} : { key }),
    ...(expectLast === undefined ? {} : { expectLast }),
  };
  checkExpectation(store, id, expectLast);
  const result = await store.transaction(id, (log) => log.append(event, options), lockWaitOf(args));
  const isDuplicate = result.duplicate === true;
  if (output.form === 'text') {
    const what = isDuplicate ? 'was there already as' : 'appended as';
    await output.note(output.shown`${what} ${id}:${result.seq}`);
  } else await output.document({ id, seq: result.seq, turn: result.turn, duplicate: isDuplicate });
  return exits.done;
}

/** A session that does not exist ends at 0; an append that expects more must not make it. */
function checkExpectation(store: Store, id: SessionId, expected: number | undefined): void {
  if (expected === undefined || expected === 0 || store.has(id)) return;
  throw new TurnlogError('TURNLOG_STALE_HEAD', { details: { sessionId: id, expected, actual: 0 } });
}
