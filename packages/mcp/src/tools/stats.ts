import { formatTimestamp } from '@turnlog/events';
import { sha256Hex, TurnlogError } from '@turnlog/kernel';
import { instantOf, pageOfRows, parseMoment, type Redactor, type SessionSummary } from '@turnlog/store';
import {
  collectStatistics,
  type StatsReport,
  type StatsRow,
  statsDimensions,
  statsJson,
} from '@turnlog/views';
import { z } from 'zod';
import { aboutSession, shortUnread } from '../about-session.js';
import { cutPage } from '../cut-page.js';
import { defineTool, reading, type Tool, type ToolAnswer, type ToolContext } from '../tool.js';
import { count, flag, listEnd, paging, rows } from '../tool-input.js';

const rowsMax = 500;
const rowsByDefault = 50;

const input = z.strictObject({
  by: z.array(z.enum(statsDimensions)).max(statsDimensions.length).optional(),
  workspace: z.string().optional(),
  since: z.string().optional(),
  until: z.string().optional(),
  limit: count(rowsMax),
  include_hidden: flag,
  ...paging,
});

type Input = z.output<typeof input>;

export const statsTool: Tool = defineTool({
  name: 'turnlog_stats',
  description:
    'Counts, token usage and cost. By session it is the list of sessions. since, until: 7d, a day, or RFC 3339.',
  input,
  output: z.object({ rows, total: z.object({}), ...listEnd }),
  annotations: reading,
  answer,
});

async function answer(given: Input, context: ToolContext): Promise<ToolAnswer> {
  const { store, zone, egress } = context;
  const by = given.by ?? ['workspace'];
  const workspace = given.workspace === undefined ? null : context.resolvePath(given.workspace);
  const [since, until] = [momentOf('since', given.since, context), momentOf('until', given.until, context)];
  const report = await collectStatistics(store, { by, zone, since, until, workspace });
  const sessions = by.includes('session') ? await summariesOf(context) : null;
  const isShown = (row: StatsRow): boolean =>
    sessions === null || given.include_hidden === true || !isHidden(sessions.get(row.key.session ?? ''));
  const shown = report.rows.filter(isShown);
  const query = {
    tool: 'stats',
    by,
    workspace,
    since: given.since,
    until: given.until,
    hidden: given.include_hidden,
  };
  // A cursor is printed, and no redactor reads what is encoded in it.
  const identityOf = ({ key }: StatsRow): string =>
    sha256Hex(Buffer.from(egress.jsonText(JSON.stringify(key)).text)).slice(0, 16);
  const page = pageOfRows(shown, {
    query,
    cursor: given.cursor ?? null,
    limit: given.limit ?? rowsByDefault,
    identityOf,
  });
  const told = statsJson({ ...report, rows: [] }, formatTimestamp);
  return cutPage({
    head: egress.value({
      ...context.head,
      by,
      zone,
      total: told['total'],
      unread: shortUnread(report.unread, egress),
      hidden: report.rows.length - shown.length,
    }),
    name: 'rows',
    page,
    itemOf: (row) => egress.value(rowJson(report, row, sessions?.get(row.key.session ?? ''), egress)),
    query,
    identityOf,
    maxBytes: given.max_bytes,
  });
}

async function summariesOf({ store }: ToolContext): Promise<ReadonlyMap<string, SessionSummary>> {
  return new Map((await store.list()).map((summary) => [summary.id, summary]));
}

/** What lists of sessions leave out unless they are asked. */
function isHidden(summary: SessionSummary | undefined): boolean {
  if (summary === undefined) return false;
  return summary.isArchived || summary.agent === 'headless' || summary.agent === 'subagent';
}

function rowJson(
  report: StatsReport,
  row: StatsRow,
  summary: SessionSummary | undefined,
  egress: Redactor,
): Readonly<Record<string, unknown>> {
  const [told] = rowsOf(statsJson({ ...report, rows: [row] }, formatTimestamp));
  if (summary === undefined) return { ...Object(told) };
  return {
    ...Object(told),
    ...aboutSession(summary, egress),
    status: summary.status,
    last_ts: summary.lastTs,
  };
}

function rowsOf(json: ReturnType<typeof statsJson>): readonly unknown[] {
  const told = json['rows'];
  return Array.isArray(told) ? told : [];
}

function momentOf(name: 'since' | 'until', text: string | undefined, context: ToolContext): number | null {
  if (text === undefined) return null;
  const moment = parseMoment(text);
  if (moment === null) {
    throw new TurnlogError('TURNLOG_BAD_FLAG', {
      details: { argument: name, value: text },
      message: `${name} takes a time as 7d, 2026-10-05, or RFC 3339, not ${JSON.stringify(text)}`,
    });
  }
  const nowMs = context.store.environment.clock.now();
  return instantOf(moment, name === 'since' ? 'start' : 'end', context.zone, nowMs);
}
