import { isLooseObject, ownMember, ownText } from './internal/loose-value.js';
import type { TurnlogEvent, UnknownEvent, UserMessageEvent } from './turnlog-event.js';

/** The origins of a `user.message` that are the user's own words (C-12); what else stands there is context. */
export const ownWordsOrigins = ['prompt', 'queued', 'slash_command', 'shell_bang'] as const;

const ownOrigins: ReadonlySet<string> = new Set(ownWordsOrigins);

/** Whether a message of this origin is the user's own words; an origin that is not known is not. */
export function isOwnWords(origin: string): boolean {
  return ownOrigins.has(origin);
}

/**
 * The text of a message: its text parts, a line break between them. Assets and parts of other types have none.
 *
 * @param content the member `content` of a `user.message`, whatever it holds.
 */
export function messageText(content: unknown): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = parts.flatMap((part) => {
    const text = ownText(part, 'type') === 'text' ? ownText(part, 'text') : null;
    return text === null ? [] : [text];
  });
  return texts.join('\n');
}

/** A message of a turn. */
export interface TurnMessage<Position> {
  readonly position: Position;
  /** As it is stored; null when it has been redacted. */
  readonly message: UserMessageEvent | null;
  /** As it is stored; null when it is not on record. */
  readonly origin: string | null;
  readonly isOwnWords: boolean;
  /** Null when it has been redacted. */
  readonly text: string | null;
}

/** The messages of a turn, as far as its events are known. */
export interface TurnMessagesState<Position> {
  /** Whether the next message would be the one that opened the turn. */
  readonly isAtStart: boolean;
  /** The message that opened the turn; null when it was opened without one. */
  readonly opening: TurnMessage<Position> | null;
  /** All other messages of the turn, in order. */
  readonly further: readonly TurnMessage<Position>[];
}

/** Before the first event of a turn. */
export function initialTurnMessages<Position>(): TurnMessagesState<Position> {
  return { isAtStart: false, opening: null, further: [] };
}

/**
 * The messages of a turn after one more of its events. The message directly behind `turn.started` opened the turn;
 * any other one was given to it later (C-12). A `turn.started` begins anew. What the engine itself reports between
 * the two, after a crash there, does not part them.
 */
export function evolveTurnMessages<Position>(
  state: TurnMessagesState<Position>,
  event: TurnlogEvent | UnknownEvent | null,
  position: Position,
): TurnMessagesState<Position> {
  const type = event === null ? null : ownText(event, 'type');
  if (type === 'turn.started') return { isAtStart: true, opening: null, further: [] };
  if (type === 'log.recovered') return state;
  const message = messageOf(event, position);
  if (message === null) return state.isAtStart ? { ...state, isAtStart: false } : state;
  if (state.isAtStart) return { ...state, isAtStart: false, opening: message };
  return { ...state, further: [...state.further, message] };
}

function messageOf<Position>(
  event: TurnlogEvent | UnknownEvent | null,
  position: Position,
): TurnMessage<Position> | null {
  if (isUserMessage(event)) {
    const origin = ownText(event, 'origin');
    const text = messageText(ownMember(event, 'content'));
    return {
      position,
      message: event,
      origin,
      isOwnWords: origin !== null && isOwnWords(origin),
      text,
    };
  }
  const isRedacted =
    ownText(event, 'type') === 'log.redacted' && ownText(event, 'original_type') === 'user.message';
  return isRedacted ? { position, message: null, origin: null, isOwnWords: false, text: null } : null;
}

function isUserMessage(event: unknown): event is UserMessageEvent {
  return isLooseObject(event) && ownText(event, 'type') === 'user.message';
}
