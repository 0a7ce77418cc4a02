import type { SourceObject } from './source-object.js';
import type { ThreadIdentity, ThreadSurvey } from './thread-format.js';

/** The survey of a format whose first record, or whose document, says which thread it is. */
export class FirstRecordSurvey implements ThreadSurvey {
  readonly #identityOf: (first: SourceObject) => ThreadIdentity | null;
  #first: SourceObject | null = null;

  constructor(identityOf: (first: SourceObject) => ThreadIdentity | null) {
    this.#identityOf = identityOf;
  }

  note(object: SourceObject): boolean {
    this.#first = object;
    return true;
  }

  identity(): ThreadIdentity | null {
    return this.#first === null ? null : this.#identityOf(this.#first);
  }
}
