import type { CodexState, HeldEvents } from './codex-state.js';
import { RawJson, writeJson } from './json-text.js';
import type { RecordEmitter } from './record-emitter.js';
import type { RecordPlace, ThreadStep } from './thread-format.js';

/** How much waits for the words that open a turn. */
const heldEventsMax = 64;
const heldCharactersMax = 1_048_576;

type HeldMembers = HeldEvents['events'][number];

/**
 * Emits what one record says. The words that open a turn stand directly behind its start, but the source has
 * context in between: `say` keeps that until the words are there, `tell` gives up waiting.
 */
export class CodexVoice {
  readonly #state: CodexState;
  readonly #place: RecordPlace;
  readonly #step: ThreadStep;
  readonly #derived: readonly string[];
  readonly #part: string | undefined;
  #emitter: RecordEmitter | null = null;

  constructor(
    state: CodexState,
    place: RecordPlace,
    step: ThreadStep,
    derived: readonly string[] = [],
    part?: string,
  ) {
    this.#state = state;
    this.#place = place;
    this.#step = step;
    this.#derived = derived;
    this.#part = part;
  }

  get place(): RecordPlace {
    return this.#place;
  }

  /** The same record, with figures that were counted here. */
  deriving(...names: readonly string[]): CodexVoice {
    return new CodexVoice(this.#state, this.#place, this.#step, names, this.#part);
  }

  /** The same record, for events that are keyed apart from its others. */
  part(part: string): CodexVoice {
    return new CodexVoice(this.#state, this.#place, this.#step, this.#derived, part);
  }

  /** An earlier record. */
  at(place: RecordPlace): CodexVoice {
    return new CodexVoice(this.#state, place, this.#step);
  }

  asset(bytes: Uint8Array, mediaType: string): object {
    return this.#step.asset(bytes, mediaType);
  }

  /** What stands around the words of a turn. */
  say(...events: readonly object[]): void {
    if (this.#state.turn?.awaitsPrompt !== true) {
      for (const event of events) this.emit(event);
      return;
    }
    const held = { place: this.#place, derived: this.#derived, events: events.map(heldMembers) };
    if (this.#hasRoomFor(held)) {
      this.#state.held.push(held);
      return;
    }
    for (const event of events) this.tell(event);
  }

  /** What the model or a tool did: the turn has begun, with words or without. */
  tell(event: object): void {
    this.release();
    this.emit(event);
  }

  emit(event: object): void {
    this.#emitter ??= this.#step.emitter(this.#place, {
      derived: this.#derived,
      ...(this.#part === undefined ? {} : { part: this.#part }),
    });
    this.#emitter.emit(event);
  }

  /** Lets out what waits. */
  release(): void {
    const { turn, held } = this.#state;
    if (turn !== null) turn.awaitsPrompt = false;
    if (held.length === 0) return;
    this.#state.held = [];
    for (const { place, derived, events } of held) {
      const emitter = this.#step.emitter(place, { derived });
      for (const members of events) {
        emitter.emit(new Map(members.map(([name, json]) => [name, new RawJson(json)])));
      }
    }
  }

  #hasRoomFor(more: HeldEvents): boolean {
    const all = [...this.#state.held, more];
    const characters = all
      .flatMap(({ events }) => events.flat())
      .reduce((sum, [, json]) => sum + json.length, 0);
    return all.length <= heldEventsMax && characters <= heldCharactersMax;
  }
}

function heldMembers(event: object): HeldMembers {
  const entries: Iterable<readonly [string, unknown]> = event instanceof Map ? event : Object.entries(event);
  return [...entries]
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, writeJson(value)]);
}
