import { formatTimestamp } from '@turnlog/events';
import { TurnlogError } from '@turnlog/kernel';
import { effectiveRecords, type LogReader, type LogRecord, type TurnSummary } from '@turnlog/log';
import { documentsOf, parseChunkId } from '@turnlog/search';
import { type ListPage, rowBehindCursor, safeLine } from '@turnlog/store';
import { countTools, filesView, toolCalls, toolsView, touchedFiles, viewRecord } from '@turnlog/views';
import { z } from 'zod';
import { aboutSession } from '../about-session.js';
import { cutPage } from '../cut-page.js';
import { fitItems } from '../output-limits.js';
import { defineTool, reading, type Tool, type ToolAnswer, type ToolContext } from '../tool.js';
import { listEnd, paging, rows, seq } from '../tool-input.js';

const turnsMax = 50;
const turnsBefore = 4;
const turnsAfter = 4;

const input = z.strictObject({
  session: z.string().optional(),
  turn: seq,
  around: z.string().optional(),
  before: z.int().min(0).max(turnsMax).optional(),
  after: z.int().min(0).max(turnsMax).optional(),
  ...paging,
});

type Input = z.output<typeof input>;

export const timelineTool: Tool = defineTool({
  name: 'turnlog_timeline',
  description:
    'Turns of a session with headline, tools and files: around a turn, or a record (around: session:seq), else the last ones. Session: id, its start, title, or @last.',
  input,
  output: z.object({ turns: rows, ...listEnd }),
  annotations: reading,
  answer,
});

async function answer(given: Input, context: ToolContext): Promise<ToolAnswer> {
  const { session, seq: around } = placeOf(given, context);
  const reader = context.store.read(session);
  try {
    const turns = [...reader.turns()];
    const query = { tool: 'timeline', session };
    const page = windowOf(turns, given, around, query);
    const { title, agent, workspaces } = reader.state.facts;
    return cutPage({
      head: context.egress.value({
        ...context.head,
        session,
        ...aboutSession({ title: title ?? null, agent: agent ?? null, workspaces }, context.egress),
      }),
      name: 'turns',
      page,
      itemOf: (turn) => context.egress.value(turnJson(reader, turn, context)),
      query,
      identityOf: ({ turn }) => String(turn),
      maxBytes: given.max_bytes,
    });
  } finally {
    reader.close();
  }
}

function placeOf(
  given: Input,
  { store }: ToolContext,
): { readonly session: string; readonly seq: number | null } {
  const { session, around, turn } = given;
  if (around === undefined && session !== undefined) return { session: store.resolve(session), seq: null };
  const key = around === undefined || turn !== undefined ? null : parseChunkId(around);
  if (key === null) {
    throw new TurnlogError('TURNLOG_BAD_FLAG', {
      details: { session: session ?? null, around: around ?? null, turn: turn ?? null },
      message: 'a timeline is one of a session, around a turn or around the id of a record',
    });
  }
  return { session: store.resolve(key.session), seq: key.seq };
}

/** The turns that are asked for, out of all that the log holds. */
function windowOf(
  turns: readonly TurnSummary[],
  given: Input,
  around: number | null,
  query: unknown,
): Pick<ListPage<TurnSummary>, 'rows' | 'left'> {
  const { before = turnsBefore, after = turnsAfter, cursor } = given;
  const [start, end] =
    cursor === undefined
      ? spanAround(middleOf(turns, given.turn, around), before, after)
      : spanBehind(turns, Number(rowBehindCursor(query, cursor)), before + 1 + after);
  const rows = turns.slice(Math.max(start, 0), end);
  return { rows, left: Math.max(turns.length - end, 0) };
}

function spanAround(middle: number, before: number, after: number): readonly [number, number] {
  return [middle - before, middle + after + 1];
}

function spanBehind(turns: readonly TurnSummary[], last: number, count: number): readonly [number, number] {
  const start = turns.filter(({ turn }) => turn <= last).length;
  return [start, start + count];
}

function middleOf(turns: readonly TurnSummary[], turn: number | undefined, around: number | null): number {
  if (turn !== undefined) {
    const found = turns.findIndex((each) => each.turn === turn);
    if (found >= 0) return found;
    throw new TurnlogError('TURNLOG_TURN_NOT_FOUND', { details: { turn } });
  }
  // A record between two turns belongs to what came before it.
  return around === null ? turns.length - 1 : turns.findLastIndex(({ firstSeq }) => firstSeq <= around);
}

/** What the tools of a turn, and its files, may take of an answer. */
const listBytes = 2_048;
const headlineCodePoints = 200;

function turnJson(
  reader: LogReader,
  turn: TurnSummary,
  { egress }: ToolContext,
): Readonly<Record<string, unknown>> {
  const records = [...turnRecords(reader, turn)];
  const { headline, tools, files } = foldTurn(reader.sessionId, records);
  const calls = [...countTools(toolCalls(tools))].map(([tool, { calls: count, failed }]) =>
    egress.value({ tool, calls: count, failed }),
  );
  const paths = touchedFiles(files).map(({ path }) => egress.text(path));
  const shownTools = fitItems(calls, null, listBytes).items;
  const shownFiles = fitItems(paths, null, listBytes).items;
  return {
    turn: turn.turn,
    status: turn.status,
    from_seq: turn.firstSeq,
    to_seq: turn.lastSeq,
    ts: turn.tsMs === null ? null : formatTimestamp(turn.tsMs),
    records: turn.events,
    headline: safeLine(egress.text(headline), headlineCodePoints),
    tools: shownTools,
    files: shownFiles,
    more: { tools: calls.length - shownTools.length, files: paths.length - shownFiles.length },
  };
}

function turnRecords(reader: LogReader, { turn }: TurnSummary): Iterable<LogRecord> {
  return reader.readTurn(turn, { archived: true });
}

interface TurnFold {
  readonly headline: string;
  readonly tools: ReturnType<typeof toolsView.initial>;
  readonly files: ReturnType<typeof filesView.initial>;
}

function foldTurn(session: string, records: readonly LogRecord[]): TurnFold {
  let tools = toolsView.initial(session);
  let files = filesView.initial(session);
  for (const { record } of effectiveRecords(records)) {
    const seen = viewRecord(record);
    tools = toolsView.evolve(tools, seen);
    files = filesView.evolve(files, seen);
  }
  return { headline: headlineOf(session, records), tools, files };
}

/** What the turn is about: the user's own words, else its goal, else what the agent said first. */
function headlineOf(session: string, records: readonly LogRecord[]): string {
  let said = '';
  for (const { document } of documentsOf(records, { session })) {
    if (document === null) continue;
    if (document.role === 'user') return document.text;
    if (said === '' && document.role === 'agent' && document.kind === 'message') said = document.text;
  }
  return said;
}
