import { resolve } from 'node:path';
import type { LockHolder } from '@turnlog/kernel';
import {
  instantOf,
  type ListOptions,
  listPins,
  type Pin,
  type SessionFilter,
  type SessionSummary,
} from '@turnlog/store';
import type { Context } from '../command.js';
import { exits, shownCode } from '../exit-codes.js';
import type { Flag } from '../flag.js';
import * as flags from '../flags.js';
import type { Output } from '../output/output.js';
import { type Column, formatTable } from '../output/table.js';
import { cursorBehind, listedLast } from '../page.js';
import { trash } from './trash.js';

/** What decides which sessions are listed, and in which order. */
const queryFlags: readonly Flag<unknown>[] = [
  flags.workspaceFlag,
  flags.sinceFlag,
  flags.statusFlag,
  flags.sortFlag,
  flags.tagFlag,
  flags.archivedFlag,
  flags.pinnedFlag,
  flags.includeHiddenFlag,
];

/**
 * Lists the sessions of the store, the newest first. With --limit only the page is held, whatever the store has;
 * without it, what is printed.
 */
export async function sessions(context: Context): Promise<number> {
  const { args, output } = context;
  if (args.has(flags.trashFlag)) return await trash(context);
  const store = await context.openStore();
  const pins = args.has(flags.pinnedFlag) ? listPins(store) : null;
  const { sessions: listed, matching, hidden, left } = await store.page(optionsFor(context, pins));
  const last = listed.at(-1);
  const counts = {
    listed: listed.length,
    matching,
    hidden,
    unreadable: listed.filter(({ error }) => error !== null).length,
    left,
    next_cursor: left > 0 && last !== undefined ? cursorBehind(args, queryFlags, last.id) : null,
  };
  if (output.form === 'json') {
    const rows = listed.map((summary) => withPin(summary, pins));
    await output.document({ root: store.root, sessions: rows, summary: counts });
  } else if (output.form === 'json-lines') {
    for (const summary of listed) await output.row(withPin(summary, pins));
    await output.summary(counts);
  } else await printTable(output, listed, counts);
  return exits.done;
}

type Pins = ReadonlyMap<string, Pin>;

/** Only where pins are asked for: they cost a look into every session. */
function withPin(summary: SessionSummary, pins: Pins | null): Readonly<Record<string, unknown>> {
  const pin = pins?.get(summary.id);
  if (pin === undefined) return sessionJson(summary);
  return { ...sessionJson(summary), pinned: { reason: pin.reason, pinned_at: pin.pinnedAt } };
}

function optionsFor(context: Context, pins: Pins | null): ListOptions {
  const { args } = context;
  const limit = args.get(flags.limitFlag);
  const after = listedLast(args, queryFlags);
  return {
    // A pinned session is looked for by name: nothing hides it.
    filter:
      pins === null ? filterOf(context) : { ...filterOf(context), ...unhidden, ids: new Set(pins.keys()) },
    sort: args.get(flags.sortFlag) ?? 'newest',
    signal: context.stop,
    ...(limit === undefined ? {} : { limit }),
    ...(after === null ? {} : { after }),
  };
}

const unhidden = { archived: 'included', empty: 'included', unattended: 'included' } as const;

function filterOf({ args, cwd, output, clock }: Context): SessionFilter {
  const workspace = args.get(flags.workspaceFlag);
  const since = args.get(flags.sinceFlag);
  const status = args.get(flags.statusFlag);
  const tag = args.get(flags.tagFlag);
  const includesHidden = args.has(flags.includeHiddenFlag);
  const archived = includesHidden ? 'included' : 'left-out';
  return {
    archived: args.has(flags.archivedFlag) ? 'only' : archived,
    empty: includesHidden ? 'included' : 'left-out',
    unattended: includesHidden ? 'included' : 'left-out',
    ...(workspace === undefined ? {} : { workspace: resolve(cwd, workspace) }),
    ...(since === undefined
      ? {}
      : { sinceMs: instantOf(since, 'start', output.wallClock.zone, clock.now()) }),
    ...(status === undefined ? {} : { status }),
    ...(tag === undefined ? {} : { tag }),
  };
}

/** One session as programs see it. */
export function sessionJson(summary: SessionSummary): Readonly<Record<string, unknown>> {
  const { error, writer } = summary;
  return {
    id: summary.id,
    title: summary.title,
    agent: summary.agent,
    tags: summary.tags,
    archived: summary.isArchived,
    workspaces: summary.workspaces,
    status: summary.status,
    in_turn: summary.inTurn,
    turns: summary.turns,
    events: summary.events,
    first_seq: summary.firstSeq,
    last_seq: summary.lastSeq,
    first_ts: summary.firstTs,
    last_ts: summary.lastTs,
    bytes: summary.bytes,
    damage: summary.damage,
    writer: typeof writer === 'string' ? { state: writer } : writer,
    error:
      error === null ? null : { code: shownCode(error.code), message: error.message, errno: error.errno },
  };
}

interface Counts {
  readonly listed: number;
  readonly matching: number;
  readonly hidden: number;
  readonly left: number;
  readonly next_cursor: string | null;
}

async function printTable(output: Output, listed: readonly SessionSummary[], counts: Counts): Promise<void> {
  if (listed.length > 0) await output.lines(formatTable(listed, columnsFor(output), output));
  if (counts.matching === 0) await output.note(output.shown`no sessions`);
  if (counts.left > 0) {
    await output.note(output.shown`${counts.left} more; say --cursor ${counts.next_cursor ?? ''}`);
  }
  if (counts.hidden > 0) {
    await output.note(
      output.shown`${counts.hidden} not shown (archived, empty, or run without a person); say --include-hidden`,
    );
  }
}

function columnsFor(output: Output): readonly Column<SessionSummary>[] {
  const isBad = ({ error, damage }: SessionSummary): boolean => error !== null || damage.count > 0;
  return [
    { title: 'SESSION', value: ({ id }) => id, widthMin: 24, style: () => 'strong' },
    { title: 'TURNS', value: ({ turns }) => String(turns), align: 'right', worth: 2 },
    { title: 'EVENTS', value: ({ events }) => String(events), align: 'right', worth: 1 },
    {
      title: 'STATE',
      value: stateOf,
      worth: 5,
      widthMin: 10,
      style: (summary) => (isBad(summary) ? 'red' : summary.inTurn ? 'yellow' : null),
    },
    {
      title: `LAST EVENT (${output.wallClock.zone})`,
      worth: 4,
      value: ({ lastTs }) => output.wallClock.dateTime(lastTs),
    },
    { title: 'TITLE OR WORKSPACE', value: aboutOf, widthMin: 12, worth: 3 },
  ];
}

/** The state in a few words. */
export function stateOf(summary: SessionSummary): string {
  const { error, damage, writer } = summary;
  if (error !== null) return shownCode(error.code);
  const words = [summary.inTurn ? 'in turn' : summary.status];
  if (summary.isArchived) words.push('archived');
  if (writer !== null && writer !== 'unknown') words.push(describeWriter(writer));
  if (damage.count > 0) words.push(`${damage.count} damaged`);
  return words.join(', ');
}

/** Who holds the lock, in a few words. */
export function describeWriter({ state, pid }: LockHolder): string {
  if (state === 'dead') return 'writer died';
  return pid === null ? 'being written' : `written by ${pid}`;
}

function aboutOf({ title, workspaces, tags, error }: SessionSummary): string {
  const about = error?.message ?? title ?? workspaces.at(-1) ?? '';
  return [about, ...tags.map((tag) => `#${tag}`)].filter((part) => part !== '').join(' ');
}
