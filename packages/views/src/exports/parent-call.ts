import { isTurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import { toolCalls } from '../tools-view.js';
import { planSession } from './session-plan.js';

/** The record in which a session called what became its sub-agent; null when that cannot be told. */
export function parentCallSeq(store: Store, session: string, callId: string): number | null {
  try {
    const reader = store.read(session);
    try {
      const calls = toolCalls(planSession(reader, null).tools);
      return calls.find((call) => call.callId === callId)?.seq ?? null;
    } finally {
      reader.close();
    }
  } catch (error) {
    // A parent that is not there, or cannot be read, is no reason to withhold its child.
    if (!isTurnlogError(error)) throw error;
    return null;
  }
}
