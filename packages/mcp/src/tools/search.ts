import { limits } from '@turnlog/kernel';
import {
  type FilterField,
  filterFields,
  type SearchAnswer,
  type SearchRequest,
  type WrittenFilters,
} from '@turnlog/search';
import { z } from 'zod';
import { shortLine } from '../about-session.js';
import { fitItems, outputBytes } from '../output-limits.js';
import { defineTool, reading, type Tool, type ToolAnswer, type ToolContext } from '../tool.js';
import { flag, listEnd, paging, rows } from '../tool-input.js';

const input = z.strictObject({
  text: z.string(),
  syntax: z.enum(['literal', 'query']).optional(),
  limit: z.int().min(0).max(limits.searchHitsMax).optional(),
  filters: z.partialRecord(z.enum(filterFields), z.array(z.string())).optional(),
  as_of: z.string().optional(),
  include_hidden: flag,
  explain: flag,
  ...paging,
});

type Input = z.output<typeof input>;

export const searchTool: Tool = defineTool({
  name: 'turnlog_search',
  description:
    'Search past agent sessions. Text is literal; syntax query: "phrase" +must -not prefix* field:value. as_of: a time or session:seq. Read a hit by turnlog_get.',
  input,
  output: z.object({
    hits: rows,
    total: z.object({}),
    ...listEnd,
  }),
  annotations: reading,
  answer,
});

/** Sessions and engines that are named as missing; there may be as many as sessions. */
const degradedMax = 16;

async function answer(given: Input, context: ToolContext): Promise<ToolAnswer> {
  const maxBytes = outputBytes(given.max_bytes);
  const request = requestOf(given);
  const whole = await ask(request, context);
  const { hits, ...rest } = whole;
  const fitted = fitItems(hits, { ...context.head, ...rest }, maxBytes);
  if (!fitted.isCapped) return { ...context.head, ...whole };
  // The cursor must stand behind the last hit that is told; one that fits nowhere is passed over.
  const shorter = await ask({ ...request, limit: Math.max(fitted.items.length, 1) }, context);
  const kept = shorter.hits.slice(0, fitted.items.length);
  return { ...context.head, ...shorter, hits: kept, capped: true };
}

async function ask(
  request: SearchRequest,
  { search, egress, zone, resolvePath }: ToolContext,
): Promise<SearchAnswer> {
  const answered = await search.search(request, {
    zone,
    redact: (text) => egress.text(text),
    resolveWorkspace: resolvePath,
  });
  const { degraded, query } = answered;
  return egress.value({
    ...answered,
    query: shortLine(query, egress),
    degraded: degraded
      .slice(0, degradedMax)
      .map(({ name, reason }) => ({ name, reason: shortLine(reason, egress) })),
    capped: answered.capped || degraded.length > degradedMax,
  });
}

function requestOf({
  text,
  syntax,
  limit,
  filters,
  as_of: asOf,
  explain,
  cursor,
  ...more
}: Input): SearchRequest {
  return {
    text,
    filters: filtersOf(filters ?? {}),
    explain: explain === true,
    includeHidden: more.include_hidden === true,
    ...(syntax === undefined ? {} : { syntax }),
    ...(limit === undefined ? {} : { limit }),
    ...(asOf === undefined ? {} : { asOf }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

function filtersOf(given: Readonly<Partial<Record<FilterField, readonly string[]>>>): WrittenFilters {
  return new Map(
    filterFields.flatMap((field) => {
      const values = given[field];
      return values === undefined ? [] : [[field, values] as const];
    }),
  );
}
