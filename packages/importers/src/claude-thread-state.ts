import { type AnswersState, firstAnswersState } from './claude-answers.js';
import type { ClaudeCall } from './claude-calls.js';

/** All that the fold over the messages of one thread depends on. */
export interface ClaudeThreadState<Row> {
  isInTurn: boolean;
  /** Identity of the record that opened the turn. */
  turnKey: string | undefined;
  /** Own records began inside a turn of the thread that this one was forked from. */
  isInsideFork: boolean;
  turnCount: number;
  /** Records of user and model since the last compaction. */
  messageCount: number;
  withoutUsageCount: number;
  /** Blocks so far of the newest messages: a message comes in several records. */
  messages: Map<string, number>;
  calls: Map<string, ClaudeCall>;
  /** How often each id of a call was used. */
  usedIds: Map<string, number>;
  openShell: { readonly id: string; readonly command: string } | null;
  isSummaryNext: boolean;
  isInterrupted: boolean;
  /** The last answer is an error, in these words. */
  failure: string | null;
  /** What the program said of the end of the open turn. */
  ending: { readonly completedAt: string | undefined; readonly durationMs: string | undefined } | null;
  answers: AnswersState<Row>;
}

export function firstThreadState<Row>(): ClaudeThreadState<Row> {
  return {
    isInTurn: false,
    turnKey: undefined,
    isInsideFork: false,
    turnCount: 0,
    messageCount: 0,
    withoutUsageCount: 0,
    messages: new Map(),
    calls: new Map(),
    usedIds: new Map(),
    openShell: null,
    isSummaryNext: false,
    isInterrupted: false,
    failure: null,
    ending: null,
    answers: firstAnswersState(),
  };
}

/** Messages whose blocks are counted at the same time. */
const messagesHeldMax = 32;

/** The number of the next block of a message, from 0. */
export function nextBlock({ messages }: ClaudeThreadState<unknown>, id: string): number {
  const number = messages.get(id) ?? 0;
  messages.set(id, number + 1);
  const [oldest] = messages.keys();
  if (messages.size > messagesHeldMax && oldest !== undefined) messages.delete(oldest);
  return number;
}
