import { formatTimestamp } from '@turnlog/events';
import { Ledger, readTrash, type TrashEntry } from '@turnlog/store';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import { badFlag, type Flag, writtenFlag } from '../flag.js';
import * as flags from '../flags.js';
import { type Column, formatTable } from '../output/table.js';
import { pageOf } from '../page.js';

/** These say something of sessions, of which there is none in the trash. */
const sessionFlags: readonly Flag<unknown>[] = [
  flags.workspaceFlag,
  flags.sinceFlag,
  flags.statusFlag,
  flags.sortFlag,
  flags.tagFlag,
  flags.archivedFlag,
  flags.pinnedFlag,
];

/** Lists what was removed and can be restored, the newest removal first. */
export async function trash(context: Context): Promise<number> {
  const { args, output } = context;
  const other = sessionFlags.find((flag) => args.has(flag));
  if (other !== undefined) throw badFlag(`--trash takes no ${writtenFlag(other)}`, { flag: other.name });
  const store = await context.openStore();
  const facts = new Ledger(store.environment, store.root).facts();
  const entries = [...readTrash(store.environment, store.root, facts).entries].reverse();
  const { rows, left, next } = pageOf(args, [flags.trashFlag], entries, ({ name }) => name);
  const counts = {
    listed: rows.length,
    matching: entries.length,
    hidden: 0,
    unreadable: 0,
    left,
    next_cursor: next,
  };
  if (output.form === 'json') {
    await output.document({ root: store.root, sessions: [], trash: rows.map(trashJson), summary: counts });
  } else if (output.form === 'json-lines') {
    for (const entry of rows) await output.row(trashJson(entry));
    await output.summary(counts);
  } else {
    if (rows.length > 0) await output.lines(formatTable(rows, columnsFor(context), output));
    if (entries.length === 0) await output.note(output.shown`the trash is empty`);
    if (left > 0) await output.note(output.shown`${left} more; say --cursor ${next ?? ''}`);
  }
  return exits.done;
}

/** What the ledger does not know is null. */
function trashJson({ name, sessionId, removedMs, removal }: TrashEntry): Readonly<Record<string, unknown>> {
  return {
    trash: name,
    id: sessionId,
    removed_at: formatTimestamp(removedMs),
    reason: removal?.reason ?? null,
    turns: removal?.turns ?? null,
    events: removal?.events ?? null,
    bytes: removal?.bytes ?? null,
    last_ts: removal?.lastTs ?? null,
  };
}

function columnsFor({ output }: Context): readonly Column<TrashEntry>[] {
  return [
    { title: 'TRASH', value: ({ name }) => name, widthMin: 24, style: () => 'strong' },
    { title: 'EVENTS', value: ({ removal }) => String(removal?.events ?? '-'), align: 'right', worth: 1 },
    { title: 'WHY', value: ({ removal }) => removal?.reason ?? 'by hand', worth: 3 },
    {
      title: `REMOVED (${output.wallClock.zone})`,
      value: ({ removedMs }) => output.wallClock.instant(removedMs),
      worth: 2,
    },
  ];
}
