export const queryClasses = [
  'exact-id',
  'path',
  'error',
  'command',
  'decision',
  'paraphrase',
  'many',
  'script',
  'none',
] as const;

export type QueryClass = (typeof queryClasses)[number];

export type Size = 's' | 'm' | 'l';

export interface Scale {
  readonly sessions: number;
  readonly turns: number;
  readonly itemsPerTurn: number;
  readonly queries: Readonly<Record<QueryClass, number>>;
}

const many: Scale['queries'] = {
  'exact-id': 300,
  path: 300,
  error: 300,
  command: 200,
  decision: 200,
  paraphrase: 200,
  many: 100,
  script: 100,
  none: 100,
};

/** 10 k, 200 k and 2 M records: a session has two of its own, and each turn three besides its items. */
export const scales: Readonly<Record<Size, Scale>> = {
  s: {
    sessions: 200,
    turns: 4,
    itemsPerTurn: 9,
    queries: {
      'exact-id': 70,
      path: 60,
      error: 60,
      command: 60,
      decision: 60,
      paraphrase: 30,
      many: 40,
      script: 40,
      none: 30,
    },
  },
  m: { sessions: 2_000, turns: 7, itemsPerTurn: 11, queries: many },
  l: { sessions: 20_000, turns: 7, itemsPerTurn: 11, queries: many },
};

/** An item of a session, before it has an id. */
export interface Item {
  readonly type: string;
  readonly [member: string]: unknown;
}

/**
 * What a chunk holds that answers a query: all words, and one of others where there are any; or a word that begins so;
 * or a path with these last two parts.
 */
export type Need =
  | { readonly words: readonly string[]; readonly oneOf?: readonly string[] }
  | { readonly prefix: string }
  | { readonly tail: string };

/** Something that is planted, and asked for. */
export interface Fact {
  readonly queryClass: QueryClass;
  readonly text: string;
  readonly need: Need;
  readonly golds: readonly Item[];
  readonly distractors: readonly Item[];
}

export interface GoldQuery {
  readonly query_id: string;
  readonly class: QueryClass;
  readonly text: string;
  readonly filters: Readonly<Record<string, never>>;
  /** Ids of chunks. */
  readonly gold: readonly string[];
  readonly distractors: readonly string[];
}

export const said = (text: string): Item => ({ type: 'agent_message', text });

export const ran = (command: string, output: string): Item => ({
  type: 'command_execution',
  command,
  aggregated_output: output,
  exit_code: 0,
  status: 'completed',
});

export const read = (path: string): Item => ({
  type: 'tool_invocation',
  tool_name: 'read_file',
  arguments: { path },
  status: 'completed',
});

export const changed = (path: string): Item => ({
  type: 'file_change',
  changes: [{ path, kind: 'update' }],
  status: 'completed',
});

export const failed = (message: string): Item => ({ type: 'error', message });

export const decided = (summary: string, rationale: string, alternatives: readonly string[]): Item => ({
  type: 'decision',
  summary,
  rationale,
  alternatives,
});

/** The words of a text, as the check of the world sees them; it knows nothing of the tokenizer that is measured. */
export function plainWords(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/[\s,;()"'`=、。]+/u)
    .map((word) => word.replace(/[.:!?]+$/u, ''))
    .filter((word) => word !== '');
}
