import { type CompareRules, isEqualStored } from './compare.js';
import type { SourceRecord } from './source-record.js';
import { type StoredValue, storedMember, storedString } from './stored-value.js';

export type ExpectMode = 'all' | 'agent';

/** What an appended event was held against. */
export type Judgement =
  | { readonly kind: 'equal'; readonly record: SourceRecord }
  | { readonly kind: 'differs'; readonly record: SourceRecord }
  | { readonly kind: 'unexpected' };

/** The records that code under test must append, in order. */
export class Expectations {
  readonly #records: readonly SourceRecord[];
  readonly #mode: ExpectMode;
  readonly #rules: CompareRules;
  #at = 0;
  /** How often an event was held against a record: the work there was. */
  looks = 0;

  constructor(records: readonly SourceRecord[], mode: ExpectMode, rules: CompareRules) {
    this.#records = records;
    this.#mode = mode;
    this.#rules = rules;
  }

  /** Seq of the record that was matched last; 0 before the first. */
  get passedSeq(): number {
    return this.#records[this.#at - 1]?.seq ?? 0;
  }

  /** The last few records that were passed. */
  before(count: number): readonly SourceRecord[] {
    return this.#records.slice(Math.max(this.#at - count, 0), this.#at);
  }

  /**
   * Holds an event against the next record, and goes on when they are equal. Records that others wrote may leave out
   * what our log always writes, so an event is equal as it was given, too.
   */
  judge(event: StoredValue, asGiven: StoredValue): Judgement {
    for (let at = this.#at; at < this.#records.length; at += 1) {
      const record = this.#records[at];
      if (record === undefined) break;
      this.looks += 1;
      if ([event, asGiven].some((form) => isEqualStored(record.event, form, this.#rules))) {
        this.#at = at + 1;
        return { kind: 'equal', record };
      }
      if (this.#isRequired(record)) return { kind: 'differs', record };
      // A record that may be left out, of the kind that the event is, is what it was meant to be.
      if (isSameKind(record.event, event)) return { kind: 'differs', record };
    }
    return { kind: 'unexpected' };
  }

  /** In the mode `loose` a difference is passed over. */
  pass(record: SourceRecord): void {
    this.#at = this.#records.indexOf(record, this.#at) + 1;
  }

  /** The first record that had to come; null when none is left. */
  missing(): SourceRecord | null {
    for (let at = this.#at; at < this.#records.length; at += 1) {
      const record = this.#records[at];
      if (record !== undefined && this.#isRequired(record)) return record;
    }
    return null;
  }

  #isRequired(record: SourceRecord): boolean {
    return isWritable(record.type) && (this.#mode === 'all' || !isBroughtIn(record));
  }
}

/** Records of the engine and of a redaction: no code can append them. */
function isWritable(type: string): boolean {
  return !type.startsWith('log.');
}

/** What served tools, the harness and the program around the agent brought in. */
function isBroughtIn({ type, event }: SourceRecord): boolean {
  const itemType = storedString(storedMember(event, 'item'), 'type');
  if (itemType === 'tool_output' || itemType === 'harness') return true;
  return /^(?:run|journal|usage)\./.test(type);
}

function isSameKind(left: StoredValue, right: StoredValue): boolean {
  const kindOf = (event: StoredValue): string =>
    JSON.stringify([storedString(event, 'type'), storedString(storedMember(event, 'item'), 'type')]);
  return kindOf(left) === kindOf(right);
}
