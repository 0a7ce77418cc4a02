import { resolve } from 'node:path';
import { mirrorEngine } from '@turnlog/mirror';
import {
  type FilterField,
  openSearch,
  type SearchAnswer,
  type SearchRequest,
  type WrittenFilters,
} from '@turnlog/search';
import type { Arguments } from '../arguments.js';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import { badFlag, type Flag } from '../flag.js';
import * as flags from '../flags.js';
import { searchLines, searchNotes } from '../output/search-lines.js';
import * as searchFlags from '../search-flags.js';

/** Finds what was said and done in all sessions. */
export async function search(context: Context): Promise<number> {
  const { cwd, output, settings } = context;
  const request = { ...requestOf(context), signal: context.stop };
  const store = await context.openStore();
  const opened = openSearch(store, [mirrorEngine(store)]);
  try {
    const answer = await opened.search(request, {
      zone: settings.zone,
      redact: (text) => output.egress.text(text),
      resolveWorkspace: (path) => resolve(cwd, path),
    });
    await print(context, answer);
    await opened.settled();
    return answer.hits.length === 0 && answer.total.value === 0 ? exits.negative : exits.done;
  } finally {
    opened.close();
  }
}

function requestOf({ args }: Context): SearchRequest {
  const limit = args.get(searchFlags.searchLimitFlag);
  const cursor = args.get(flags.cursorFlag);
  const asOf = args.get(searchFlags.asOfFlag);
  const engine = args.get(searchFlags.engineFlag);
  const mode = args.get(searchFlags.modeFlag);
  const group = args.get(searchFlags.groupFlag);
  const waitMs = args.get(searchFlags.searchWaitFlag);
  const budgetMs = args.get(searchFlags.budgetFlag);
  return {
    text: args.positionals[0] ?? '',
    syntax: syntaxOf(args),
    filters: filtersOf(args),
    facets: args.has(searchFlags.facetsFlag),
    explain: args.has(searchFlags.explainScoreFlag),
    includeHidden: args.has(searchFlags.searchHiddenFlag),
    minScore: minScoreOf(args),
    ...(limit === undefined ? {} : { limit }),
    ...(cursor === undefined ? {} : { cursor }),
    ...(asOf === undefined ? {} : { asOf }),
    ...(mode === undefined ? {} : { mode }),
    ...(engine === undefined ? {} : { engine }),
    ...(group === undefined ? {} : { group }),
    ...(waitMs === undefined ? {} : { waitMs }),
    ...(budgetMs === undefined ? {} : { budgetMs }),
  };
}

function syntaxOf(args: Arguments): 'literal' | 'query' {
  const asked = args.get(searchFlags.syntaxFlag);
  if (!args.has(searchFlags.queryFlag)) return asked ?? 'literal';
  if (asked === 'literal') throw badFlag('-Q and --syntax literal exclude each other', {});
  return 'query';
}

function minScoreOf(args: Arguments): number {
  const text = args.get(searchFlags.minScoreFlag);
  if (text === undefined) return 0;
  const score = /^\d{1,6}(?:\.\d{1,12})?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(score)) return score;
  throw badFlag(`--min-score takes a number from 0 on, not ${JSON.stringify(text)}`, {
    flag: 'min-score',
    value: text,
  });
}

const filterFlags: readonly (readonly [field: FilterField, flag: Flag<readonly string[]>])[] = [
  ['session', searchFlags.searchSessionFlag],
  ['role', searchFlags.searchRoleFlag],
  ['kind', searchFlags.searchKindFlag],
  ['tool', searchFlags.toolFlag],
  ['path', searchFlags.searchPathFlag],
  ['workspace', searchFlags.searchWorkspaceFlag],
  ['agent', searchFlags.agentFlag],
];

function filtersOf(args: Arguments): WrittenFilters {
  const written = new Map<FilterField, readonly string[]>();
  for (const [field, flag] of filterFlags) {
    const values = args.get(flag);
    if (values !== undefined) written.set(field, values);
  }
  const since = args.get(searchFlags.searchSinceFlag);
  const until = args.get(searchFlags.searchUntilFlag);
  if (since !== undefined) written.set('since', [since]);
  if (until !== undefined) written.set('until', [until]);
  return written;
}

async function print({ output }: Context, answer: SearchAnswer): Promise<void> {
  if (output.form === 'text') {
    await output.lines(searchLines(answer, output));
    for (const note of searchNotes(answer, output)) await output.note(note);
    return;
  }
  const { hits, ...told } = answer;
  if (output.form === 'json') await output.document({ ...told, hits });
  else {
    for (const hit of hits) await output.row({ ...hit });
    await output.summary(told);
  }
}
