import type { LogReader } from '@turnlog/log';
import { conversation, type MissingPart, type Store } from '@turnlog/store';
import type { ExportSource } from './export-request.js';
import { planSession, type SessionPlan } from './session-plan.js';

/** What a document is made of: the parts that a fork shares with its parents, and the session's own records. */
export type SessionPart =
  | { readonly kind: 'missing'; readonly missing: MissingPart }
  | { readonly kind: 'shared'; readonly sessionId: string; readonly toSeq: number }
  | { readonly kind: 'own' };

/** The parts in the order of the conversation. A reader alone has its own part only. */
export function sessionParts({ store, id }: ExportSource): readonly SessionPart[] {
  if (store === undefined || id === undefined) return [{ kind: 'own' }];
  const parts: SessionPart[] = [];
  for (const piece of conversation(store, id)) {
    if (piece.kind === 'missing') {
      parts.push({ kind: 'missing', missing: piece });
      continue;
    }
    const { sessionId, record } = piece;
    if (sessionId === id) break;
    const last = parts.at(-1);
    const isSame = last?.kind === 'shared' && last.sessionId === sessionId;
    if (isSame) parts.pop();
    parts.push({ kind: 'shared', sessionId, toSeq: Math.max(record.seq, isSame ? last.toSeq : 0) });
  }
  return [...parts, { kind: 'own' }];
}

/** Opens the log of a shared part while `work` goes through it. */
export function* sharedPart<Result>(
  store: Store,
  part: Extract<SessionPart, { kind: 'shared' }>,
  work: (reader: LogReader, plan: SessionPlan) => Iterable<Result>,
): Iterable<Result> {
  const reader = store.read(part.sessionId);
  try {
    yield* work(reader, planSession(reader, part.toSeq));
  } finally {
    reader.close();
  }
}
