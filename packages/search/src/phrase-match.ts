import type { Phrase, QueryPlan } from './query-plan.js';
import { leavesOf } from './token-views.js';

/** Whether a text holds all required phrases of a plan and none that is excluded. */
export function holdsPhrases(plan: Pick<QueryPlan, 'required' | 'excluded'>, text: string): boolean {
  const leaves = leavesOf(text);
  return (
    plan.required.every((phrase) => isWithin(phrase, leaves)) &&
    !plan.excluded.some((phrase) => isWithin(phrase, leaves))
  );
}

/** Whether the leaves of `phrase` stand side by side in `leaves`. */
function isWithin(phrase: Phrase, leaves: readonly string[]): boolean {
  const last = leaves.length - phrase.length;
  for (let start = leaves.indexOf(phrase[0] ?? ''); start !== -1 && start <= last; ) {
    if (phrase.every((leaf, at) => leaves[start + at] === leaf)) return true;
    start = leaves.indexOf(phrase[0] ?? '', start + 1);
  }
  return false;
}
