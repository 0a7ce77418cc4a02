/**
 * A session as one OTLP/JSON trace by the GenAI conventions 1.37.0. A turn is a span `invoke_agent`; under it stand
 * the answers of the model (`chat`, where the model is known) and the calls of tools (`execute_tool`). What was used
 * stands at the answers where they are named, else at the turn, so that the sum over all spans is that of `stats`.
 */

import type { LogReader } from '@turnlog/log';
import { type Egress, redactionFacts, type Store } from '@turnlog/store';
import type { ExportTally } from './export-tally.js';
import { attributes, spanId, spanJson, traceId } from './otlp-span.js';
import { OtlpSpans } from './otlp-spans.js';
import { parentCallSeq } from './parent-call.js';
import { sessionEntries } from './session-entries.js';
import { planSession, type SessionPlan } from './session-plan.js';
import { type DocumentObject, documentJson } from './stored-json.js';

const schemaUrl = 'https://opentelemetry.io/schemas/1.37.0';

export interface OtlpRequest {
  readonly egress: Egress;
  readonly content: 'with' | 'without';
  /** Where the parent of a sub-agent is looked for. */
  readonly store: Store | null;
}

export function* otlpDocument(reader: LogReader, request: OtlpRequest, tally: ExportTally): Iterable<string> {
  const { egress, content, store } = request;
  const plan = planSession(reader, null);
  tally.noteLog(reader);
  tally.noteRecords(plan.recordCount);
  const safe = (text: string | null | undefined): string | null =>
    text === null || text === undefined ? null : egress.text(text);
  const resource = {
    attributes: attributes({
      'service.name': safe(plan.run?.program) ?? 'unknown_service',
      'service.version': safe(plan.run?.version),
      'turnlog.session': reader.sessionId,
      'turnlog.redacted': redactionFacts(egress).redacted,
      'turnlog.damage': reader.state.damage.count,
      'turnlog.parent.session': safe(plan.run?.parentSession),
      'turnlog.parent.call_id': safe(plan.run?.parentCall),
    }),
  };
  const scope = { name: 'turnlog', version: '0.1.0' };
  yield `{"resourceSpans":[{"resource":${documentJson(resource)},"scopeSpans":[{"scope":${documentJson(scope)},"spans":[`;
  const spans = new OtlpSpans(reader, plan, {
    content,
    links: parentLinks(plan, store),
    safe: (text) => egress.text(text),
    tally,
  });
  let separator = '\n';
  for (const entry of sessionEntries(reader, plan, egress, null)) {
    for (const span of spans.take(entry)) {
      yield `${separator}${spanJson(span)}`;
      separator = ',\n';
    }
  }
  for (const span of spans.end()) {
    yield `${separator}${spanJson(span)}`;
    separator = ',\n';
  }
  yield `\n],"schemaUrl":${documentJson(schemaUrl)}}],"schemaUrl":${documentJson(schemaUrl)}}]}\n`;
}

/** The span of the call that started this session. */
function parentLinks({ run }: SessionPlan, store: Store | null): readonly DocumentObject[] {
  if (store === null || run === null || run.parentSession === null || run.parentCall === null) return [];
  const seq = parentCallSeq(store, run.parentSession, run.parentCall);
  if (seq === null) return [];
  return [{ traceId: traceId(run.parentSession), spanId: spanId(run.parentSession, seq) }];
}
