import type { LogReader } from '@turnlog/log';
import type { Block } from './blocks.js';
import { type DocumentHead, documentHead } from './document-head.js';
import type { ExportRequest } from './export-request.js';
import type { ExportTally } from './export-tally.js';
import { missingText } from './missing-part.js';
import { sessionBlocks } from './session-blocks.js';
import { sessionEntries } from './session-entries.js';
import { sessionParts, sharedPart } from './session-parts.js';
import { planSession, type SessionPlan } from './session-plan.js';

/** How blocks become text. */
export interface BlockRenderer {
  head(head: DocumentHead, plan: SessionPlan, reader: LogReader): string;
  /** Before the records of another session, and where a part is missing. */
  part(text: string): string;
  /** `part` counts the sessions before: 0 is the session itself. */
  block(block: Block, part: number): string;
  end(): string;
}

/** md and html: the parts of the conversation in order, the session's own last. */
export function* sessionDocument(
  reader: LogReader,
  request: ExportRequest,
  renderer: BlockRenderer,
  tally: ExportTally,
): Iterable<string> {
  const { redactor, options = {} } = request;
  const detail = options.condensed === true ? 'condensed' : 'full';
  const plan = planSession(reader, null);
  tally.noteLog(reader);
  tally.noteRecords(plan.recordCount);
  yield renderer.head(documentHead(reader, plan, redactor), plan, reader);
  let partsBefore = 0;
  const blocks = function* (log: LogReader, its: SessionPlan, toSeq: number | null, part: number) {
    for (const block of sessionBlocks(sessionEntries(log, its, redactor, toSeq), detail, tally)) {
      yield renderer.block(block, part);
    }
  };
  for (const part of sessionParts(request)) {
    if (part.kind === 'own') {
      if (partsBefore > 0) yield renderer.part(`Here begins the session ${reader.sessionId} itself.`);
      yield* blocks(reader, plan, null, 0);
    } else if (part.kind === 'missing') {
      partsBefore += 1;
      yield renderer.part(redactor.text(missingText(part.missing)));
    } else if (request.store !== undefined) {
      partsBefore += 1;
      const number = partsBefore;
      yield renderer.part(`Shared with the session ${part.sessionId}, up to record ${part.toSeq}.`);
      yield* sharedPart(request.store, part, (log, its) => blocks(log, its, part.toSeq, number));
    }
  }
  yield renderer.end();
}
