import { activityView } from '../activity-view.js';
import { factsOf } from '../stats-facts.js';
import { addMeasures, type Measures, nothing } from '../stats-measures.js';
import type { SessionPlan } from './session-plan.js';

/** Usage, cost and calls of one session: the figures that its statistics add up, records not counted. */
export function sessionTotals({ usage, tools }: SessionPlan): Measures {
  const seen = new Set<string>();
  const answers = {
    claim: (key: string): boolean => {
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    },
  };
  const facts = factsOf({ activity: activityView.initial(''), usage, tools }, answers, null);
  return facts.reduce((sum, { measures }) => addMeasures(sum, measures), nothing);
}
