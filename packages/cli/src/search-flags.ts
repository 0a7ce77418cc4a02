import { type DocumentKind, documentKinds, type RecordRole, recordRoles } from '@turnlog/events';
import type { EngineName } from '@turnlog/search';
import {
  choiceFlag,
  choicesFlag,
  countFlag,
  durationFlag,
  type Flag,
  listFlag,
  sessionReferencesFlag,
  switchFlag,
  textFlag,
} from './flag.js';

/** The flags of `search` and `blame`, each once. Of what they are about only the types: a start loads no search. */

export const queryFlag: Flag<true> = switchFlag(
  'Q',
  'read QUERY in the query syntax: "phrase" +required -excluded prefix* field:value',
);
export const syntaxFlag: Flag<'literal' | 'query'> = choiceFlag(
  'syntax',
  ['literal', 'query'],
  'how QUERY is read; literally unless said otherwise',
);
export const searchSessionFlag: Flag<readonly string[]> = sessionReferencesFlag(
  'session',
  'in these sessions only',
);
export const searchRoleFlag: Flag<readonly RecordRole[]> = choicesFlag('role', recordRoles, 'who speaks');
export const searchKindFlag: Flag<readonly DocumentKind[]> = choicesFlag(
  'kind',
  documentKinds,
  'what it is about',
);
export const toolFlag: Flag<readonly string[]> = listFlag(
  'tool',
  'NAME',
  'calls and outputs of these tools only',
);
export const searchPathFlag: Flag<readonly string[]> = listFlag(
  'path',
  'PATH',
  'what touched these paths: whole, their last parts, or with * ** ?',
);
export const searchWorkspaceFlag: Flag<readonly string[]> = listFlag(
  'workspace',
  'DIR',
  'sessions that worked in these directories',
);
export const agentFlag: Flag<readonly ('primary' | 'subagent' | 'headless')[]> = choicesFlag(
  'agent',
  ['primary', 'subagent', 'headless'],
  'how the session was run',
);
export const searchSinceFlag: Flag<string> = textFlag(
  'since',
  'WHEN',
  'from this time on: 7d, 24h, a day, or RFC 3339',
);
export const searchUntilFlag: Flag<string> = textFlag('until', 'WHEN', 'before this time; a day is included');
export const explainScoreFlag: Flag<true> = switchFlag('explain', 'say how each score came about');
export const asOfFlag: Flag<string> = textFlag(
  'as-of',
  'WHEN|ID:SEQ',
  'the answer that would have been given at this time, or right behind this record',
);
export const modeFlag: Flag<'lexical' | 'hybrid'> = choiceFlag(
  'mode',
  ['lexical', 'hybrid'],
  'by words alone, or fused with what is alike by vectors, made without any network',
);
export const minScoreFlag: Flag<string> = textFlag('min-score', 'N', 'leave out hits of a lower score');
export const engineFlag: Flag<EngineName> = choiceFlag(
  'engine',
  ['packed', 'fts5', 'wink'],
  'which engine is asked first; the answer is the same',
);
export const groupFlag: Flag<'session'> = choiceFlag(
  'group',
  ['session'],
  'the best hit of each session only',
);
export const searchLimitFlag: Flag<number> = countFlag(
  'limit',
  'N',
  'at most so many hits, by default 10 and never more than 100; 0 for counts alone',
);
export const searchWaitFlag: Flag<number> = durationFlag(
  'wait',
  'how long the index may take to come up to the logs; 200 ms unless said otherwise',
);
export const budgetFlag: Flag<number> = countFlag(
  'budget-ms',
  'N',
  'end the work after so many milliseconds, with what was found by then',
);
export const searchHiddenFlag: Flag<true> = switchFlag(
  'include-hidden',
  'search context that nobody said, and sessions of programs and sub-agents, as well',
);
export const facetsFlag: Flag<true> = switchFlag('facets', 'how many matches have each value');
export const readsFlag: Flag<true> = switchFlag('reads', 'also records that only read the path');
export const mentionsFlag: Flag<true> = switchFlag('mentions', 'also commands that name the path');
export const httpFlag: Flag<number> = countFlag(
  'http',
  'PORT',
  'over HTTP on this port of this machine instead; 0 takes a free one',
);
export const proveFlag: Flag<true> = switchFlag(
  'prove',
  'add the proof that each record is in its log, as prove prints it',
);
export const followRenamesFlag: Flag<true> = switchFlag(
  'follow',
  'go on under the names that the file had before',
);
