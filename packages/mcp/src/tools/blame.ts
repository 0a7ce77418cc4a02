import {
  type BlameRow,
  blame,
  blameRowJson,
  changingOps,
  type LineOrigin,
  lineOriginJson,
  type PathOp,
} from '@turnlog/search';
import { pageOfRows, type Redactor } from '@turnlog/store';
import { z } from 'zod';
import { shortLine, shortUnread } from '../about-session.js';
import { cutPage } from '../cut-page.js';
import { defineTool, reading, type Tool, type ToolAnswer, type ToolContext } from '../tool.js';
import { count, flag, listEnd, paging, rows, seq } from '../tool-input.js';

const rowsMax = 100;
const rowsByDefault = 20;

const input = z.strictObject({
  path: z.string().min(1),
  line: seq,
  reads: flag,
  mentions: flag,
  follow: flag,
  limit: count(rowsMax),
  ...paging,
});

type Input = z.output<typeof input>;

export const blameTool: Tool = defineTool({
  name: 'turnlog_blame',
  description:
    "Which records changed a file, newest first, or which one wrote a line. Path: absolute, or from a workspace's top. follow: also under former names.",
  input,
  output: z.object({ records: rows, ...listEnd }),
  annotations: reading,
  answer,
});

/** Changes of one record that are told one by one. */
const refsMax = 16;

async function answer(given: Input, context: ToolContext): Promise<ToolAnswer> {
  const { egress } = context;
  const { path, line = null, reads, mentions, follow } = given;
  const ops: readonly PathOp[] = [
    ...changingOps,
    ...(reads === true ? (['read'] as const) : []),
    ...(mentions === true ? (['mention'] as const) : []),
  ];
  const renames = follow === true ? 'followed' : 'not-followed';
  const report = await blame(context.store, { path, line, ops, renames }, (text) => egress.text(text));
  const query = { tool: 'blame', path, line, ops, renames };
  const identityOf = (row: { readonly session: string; readonly seq: number }): string =>
    `${row.session}:${row.seq}`;
  const page = pageOfRows(report.records, {
    query,
    cursor: given.cursor ?? null,
    limit: given.limit ?? rowsByDefault,
    identityOf,
  });
  return cutPage({
    head: {
      ...context.head,
      path: shortLine(path, egress),
      line,
      origin: report.origin === null ? null : originJson(report.origin, egress),
      unread: shortUnread(report.unread, egress),
    },
    name: 'records',
    page,
    itemOf: (row) => rowJson(row, egress),
    query,
    identityOf,
    maxBytes: given.max_bytes,
  });
}

function rowJson(row: BlameRow, egress: Redactor): Readonly<Record<string, unknown>> {
  const told = blameRowJson({ ...row, refs: row.refs.slice(0, refsMax) });
  return egress.value({ ...told, more_refs: Math.max(row.refs.length - refsMax, 0) });
}

function originJson(origin: LineOrigin, egress: Redactor): Readonly<Record<string, unknown>> {
  const record = origin.record === null ? null : rowJson(origin.record, egress);
  const text = origin.status === 'added' ? shortLine(origin.text, egress) : null;
  return { ...lineOriginJson(origin), text, record };
}
