/** What an event is to the state machine of a log; `other` for everything but the five lifecycle types. */
export type LifecycleKind =
  | 'thread-started'
  | 'thread-completed'
  | 'turn-started'
  | 'turn-completed'
  | 'turn-failed'
  | 'other';

/** The only mapping from an event type to its lifecycle kind (C-8). `turn.blocked` is not one of the five. */
export function lifecycleKindOf(type: string): LifecycleKind {
  switch (type) {
    case 'thread.started':
      return 'thread-started';
    case 'thread.completed':
      return 'thread-completed';
    case 'turn.started':
      return 'turn-started';
    case 'turn.completed':
      return 'turn-completed';
    case 'turn.failed':
      return 'turn-failed';
    default:
      return 'other';
  }
}
