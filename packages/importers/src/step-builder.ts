import type { ChildEvents, MappedEvent, Refusal, StreamStep } from './stream-types.js';

/** Collects what one line gives. */
export class StepBuilder {
  readonly #events: MappedEvent[] = [];
  readonly #children = new Map<string, MappedEvent[]>();
  readonly #refused: Refusal[] = [];
  #sessionId: string | undefined;

  add(event: MappedEvent): void {
    this.#events.push(event);
  }

  addToChild(sessionId: string, event: MappedEvent): void {
    const events = this.#children.get(sessionId);
    if (events === undefined) this.#children.set(sessionId, [event]);
    else events.push(event);
  }

  refuse(refusal: Refusal): void {
    this.#refused.push(refusal);
  }

  suggest(sessionId: string): void {
    this.#sessionId = sessionId;
  }

  take(): StreamStep {
    const children: ChildEvents[] = [...this.#children].map(([sessionId, events]) => ({ sessionId, events }));
    return {
      events: this.#events,
      children,
      refused: this.#refused,
      ...(this.#sessionId === undefined ? {} : { sessionId: this.#sessionId }),
    };
  }
}
