/**
 * A session as one trajectory, ATIF-v1.4. Steps are numbered from 1 on in the order of the log; calls without output
 * come last, with an observation that says so. What one turn used stands at its first step of the agent, and what all
 * of them used in `final_metrics`, as the statistics of the session have it.
 */

import { addUsage, type UsageCounts } from '@turnlog/events';
import type { LogReader } from '@turnlog/log';
import { type Egress, redactionFacts } from '@turnlog/store';
import { ownMember, ownText } from '../internal/members.js';
import { dollars } from '../prices.js';
import { usageEntries } from '../usage-entries.js';
import { type AtifStep, eventStep, failureStep, isWithoutOutput, itemStep, stepJson } from './atif-step.js';
import type { ExportTally } from './export-tally.js';
import { type Entry, type ShownEvent, sessionEntries } from './session-entries.js';
import { planSession, type SessionPlan } from './session-plan.js';
import { sessionTotals } from './session-totals.js';
import { documentJson } from './stored-json.js';

export function* atifDocument(reader: LogReader, egress: Egress, tally: ExportTally): Iterable<string> {
  const plan = planSession(reader, null);
  tally.noteLog(reader);
  tally.noteRecords(plan.recordCount);
  yield head(reader, plan, egress);
  const trajectory = new Trajectory(plan, tally);
  for (const entry of sessionEntries(reader, plan, egress, null)) yield* trajectory.take(entry);
  yield* trajectory.end();
  yield tail(reader, plan, egress, trajectory.stepCount, tally);
}

function head({ sessionId }: LogReader, { run, usage }: SessionPlan, egress: Egress): string {
  const safe = (text: string | null): string | undefined => (text === null ? undefined : egress.text(text));
  const agent = {
    name: safe(run?.program ?? null) ?? 'unknown',
    version: safe(run?.version ?? null) ?? 'unknown',
    model_name: safe(usage.model),
  };
  const members = `"schema_version":"ATIF-v1.4","session_id":${documentJson(sessionId)}`;
  return `{${members},"agent":${documentJson(agent)},"steps":[`;
}

function tail(
  { state }: LogReader,
  plan: SessionPlan,
  egress: Egress,
  stepCount: number,
  tally: ExportTally,
): string {
  const { usage, cost } = sessionTotals(plan);
  const skipped = [...tally.report.skipped].sort(([one], [other]) => (one < other ? -1 : 1));
  const notes = [
    skipped.length === 0
      ? 'No event was skipped.'
      : `Skipped events: ${skipped.map(([type, count]) => `${egress.text(type)} ${count}`).join(', ')}.`,
    ...(state.damage.count === 0 ? [] : [`Damaged places of the log: ${state.damage.count}.`]),
    ...(state.facts.forkedFrom === undefined
      ? []
      : [
          `Begins where another session was left: ${egress.text(ownText(state.facts.forkedFrom, 'session') ?? 'unnamed')}.`,
        ]),
  ];
  const metrics = {
    total_prompt_tokens: usage?.input,
    total_completion_tokens: usage?.output,
    total_cached_tokens: usage?.cached,
    total_cost_usd: cost.picodollars === null ? undefined : dollars(cost.picodollars),
    total_steps: stepCount,
  };
  const extra = { turnlog: { ...redactionFacts(egress), skipped: Object.fromEntries(skipped) } };
  return `\n],"notes":${documentJson(notes.join(' '))},"final_metrics":${documentJson(metrics)},"extra":${documentJson(extra)}}\n`;
}

/** Said by the turns themselves, or by the head. */
const silentTypes: ReadonlySet<string> = new Set(['turn.started', 'turn.completed', 'run.answer']);

class Trajectory {
  stepCount = 0;
  readonly #tally: ExportTally;
  readonly #usageOfTurn = new Map<number, UsageCounts>();
  readonly #withoutOutput: AtifStep[] = [];
  #reasoning: { text: string; readonly event: ShownEvent } | null = null;
  #blocked: ShownEvent | null = null;
  #turn: number | null = null;

  constructor(plan: SessionPlan, tally: ExportTally) {
    this.#tally = tally;
    for (const { turn, usage } of usageEntries(plan.usage)) {
      if (turn === null || usage === null) continue;
      const known = this.#usageOfTurn.get(turn);
      this.#usageOfTurn.set(turn, known === undefined ? usage : addUsage(known, usage));
    }
  }

  *take(entry: Entry): Iterable<string> {
    switch (entry.kind) {
      case 'turn':
        this.#turn = entry.turn;
        return;
      case 'turn-end':
        yield* this.#flush();
        this.#turn = null;
        return;
      case 'event':
        yield* this.#event(entry.event);
        return;
      case 'item':
        if (entry.type === 'reasoning') this.#reason(entry.event);
        else {
          const step = itemStep(entry);
          if (step === null) this.#tally.noteSkipped(`item ${entry.type}`);
          else if (isWithoutOutput(entry)) this.#withoutOutput.push(step);
          else yield* this.#step(step);
        }
    }
  }

  *end(): Iterable<string> {
    yield* this.#flush();
    for (const step of this.#withoutOutput) yield* this.#step(step);
  }

  *#event(event: ShownEvent): Iterable<string> {
    const { type } = event;
    if (type === 'turn.blocked' && this.#blocked === null && this.#turn !== null) {
      this.#blocked = event;
    } else if (type === 'turn.failed' || type === 'turn.blocked') {
      const step = failureStep(event, this.#blocked);
      this.#blocked = null;
      yield* this.#step(step);
    } else {
      const step = eventStep(event);
      if (step !== null) yield* this.#step(step);
      else if (!silentTypes.has(type)) this.#tally.noteSkipped(type);
    }
  }

  #reason(event: ShownEvent): void {
    const text = ownText(ownMember(event.value, 'item'), 'text') ?? '';
    if (this.#reasoning === null) this.#reasoning = { text, event };
    else this.#reasoning.text += `\n\n${text}`;
  }

  *#step(step: AtifStep): Iterable<string> {
    if (step.source !== 'agent') yield* this.#flushReasoning();
    yield this.#written(step);
  }

  /** What still waits for a step that it belongs to. */
  *#flush(): Iterable<string> {
    yield* this.#flushReasoning();
    const blocked = this.#blocked;
    this.#blocked = null;
    if (blocked !== null) yield this.#written(failureStep(blocked, null));
  }

  *#flushReasoning(): Iterable<string> {
    if (this.#reasoning === null) return;
    const { ts, seq } = this.#reasoning.event;
    yield this.#written({ timestamp: ts, source: 'agent', message: '', seq });
  }

  #written(step: AtifStep): string {
    this.stepCount += 1;
    const isAgent = step.source === 'agent';
    const reasoning = isAgent ? (this.#reasoning?.text ?? null) : null;
    const usage = isAgent && this.#turn !== null ? (this.#usageOfTurn.get(this.#turn) ?? null) : null;
    if (isAgent) this.#reasoning = null;
    if (usage !== null && this.#turn !== null) this.#usageOfTurn.delete(this.#turn);
    const json = documentJson(stepJson(step, { number: this.stepCount, reasoning, usage }));
    return `${this.stepCount === 1 ? '' : ','}\n${json}`;
  }
}
