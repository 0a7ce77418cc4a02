import { ownMember, ownText } from '../internal/members.js';
import type { ItemEntry, ShownEvent } from './session-entries.js';
import { compactJson, memberBytes } from './stored-json.js';

/** How a call ended. */
export interface CallOutcome {
  /** The outcome or status that is stored, for people without its underscores. */
  readonly outcome: string;
  readonly tone: 'good' | 'bad' | 'open';
}

const plainOutcomes: ReadonlySet<string> = new Set(['success', 'completed', 'in_progress', 'started']);

/** The outcome that the call states, else its status; a failure of an output is one of the call. */
export function callOutcome({ item, event, outputs, plan }: ItemEntry): CallOutcome {
  const stated = ownText(item, 'outcome') ?? ownText(item, 'status');
  const failedOutput = outputs.some(({ value }) => ownText(ownMember(value, 'item'), 'status') === 'failed');
  const exitCode = exitCodeOf([event, ...outputs]);
  const isFailed = stated !== null && !plainOutcomes.has(stated);
  if (isFailed || failedOutput || (exitCode !== null && exitCode !== '0')) {
    const word = isFailed ? stated.replaceAll('_', ' ') : 'failed';
    return {
      outcome: exitCode === null || exitCode === '0' ? word : `${word} · exit ${exitCode}`,
      tone: 'bad',
    };
  }
  if (plan.call !== null && !plan.call.isAnswered) return { outcome: 'no result recorded', tone: 'open' };
  return { outcome: 'done', tone: 'good' };
}

function exitCodeOf(events: readonly ShownEvent[]): string | null {
  for (const { bytes } of events) {
    const code = memberBytes(bytes, 'item', 'exit_code');
    if (code !== null) return compactJson(code);
  }
  return null;
}
