import { formatTimestamp } from '@turnlog/events';
import type { LogReader } from '@turnlog/log';
import { type Egress, redactionFacts } from '@turnlog/store';
import type { Measures } from '../stats-measures.js';
import type { SessionPlan } from './session-plan.js';
import { sessionTotals } from './session-totals.js';

/** What a document says before its first turn. All texts have passed the redactor. */
export interface DocumentHead {
  readonly id: string;
  readonly title: string | null;
  readonly workspaces: readonly string[];
  readonly agent: string | null;
  readonly model: string | null;
  readonly tags: readonly string[];
  /** Times of the first and the last record; null when unknown. */
  readonly firstTs: string | null;
  readonly lastTs: string | null;
  readonly status: string;
  readonly recordCount: number;
  readonly totals: Measures;
  readonly damageCount: number;
  readonly redaction: ReturnType<typeof redactionFacts>;
}

export function documentHead(reader: LogReader, plan: SessionPlan, egress: Egress): DocumentHead {
  const { facts, firstTsMs, newestTsMs, lifecycle, damage } = reader.state;
  const safe = (text: string | undefined | null): string | null =>
    text === undefined || text === null ? null : egress.text(text);
  return {
    id: reader.sessionId,
    title: safe(facts.title),
    workspaces: facts.workspaces.map((workspace) => egress.text(workspace)),
    agent: safe(facts.agent),
    model: safe(plan.usage.model),
    tags: (facts.tags ?? []).map((tag) => egress.text(tag)),
    firstTs: firstTsMs === null ? null : formatTimestamp(firstTsMs),
    lastTs: newestTsMs === null ? null : formatTimestamp(newestTsMs),
    status: lifecycle.status,
    recordCount: plan.recordCount,
    totals: sessionTotals(plan),
    damageCount: damage.count,
    redaction: redactionFacts(egress),
  };
}
