import { sha256Text } from '@turnlog/kernel';
import type { IdMode } from './fixture.js';
import { type StoredValue, storedMember, storedString } from './stored-value.js';

/**
 * The ids of a replay, by kind: the type of an item, `item` for items of any type, `message`, `turn`, `call`. Recorded
 * ones are handed out in the order they were first seen in; behind the last, and in the mode `seeded`, ids are made
 * from the seed and never repeat.
 */
export class ReplayIds {
  readonly #seed: string;
  readonly #recorded = new Map<string, string[]>();
  readonly #handed = new Map<string, number>();

  constructor(seed: string, mode: IdMode, events: Iterable<StoredValue>) {
    this.#seed = seed;
    if (mode === 'seeded') return;
    const seen = new Set<string>();
    for (const event of events) for (const [kind, id] of idsIn(event)) this.#note(seen, kind, id);
  }

  readonly next = (kind = 'item'): string => {
    const count = this.#handed.get(kind) ?? 0;
    this.#handed.set(kind, count + 1);
    return this.#recorded.get(kind)?.[count] ?? seededId(this.#seed, kind, count);
  };

  #note(seen: Set<string>, kind: string, id: string): void {
    const name = JSON.stringify([kind, id]);
    if (seen.has(name)) return;
    seen.add(name);
    const known = this.#recorded.get(kind);
    if (known === undefined) this.#recorded.set(kind, [id]);
    else known.push(id);
  }
}

/** The id of that kind and number that a seed gives, whoever asks. */
export function seededId(seed: string, kind: string, count: number): string {
  const number = String(count + 1).padStart(6, '0');
  return `${kind}-${number}-${sha256Text(JSON.stringify([seed, kind, count]), 'hex').slice(0, 12)}`;
}

function* idsIn(event: StoredValue): Iterable<readonly [kind: string, id: string]> {
  const item = storedMember(event, 'item');
  const id = storedString(item, 'id');
  const type = storedString(item, 'type');
  if (id !== null && type !== null) {
    yield [type, id];
    yield ['item', id];
  }
  const call = storedString(item, 'tool_call_id');
  if (call !== null) yield ['call', call];
  const message = storedString(event, 'type') === 'user.message' ? storedString(event, 'id') : null;
  if (message !== null) yield ['message', message];
  const turn = storedString(storedMember(event, 'context'), 'turn_id');
  if (turn !== null) yield ['turn', turn];
}

/** Numbers from 0 to below 1 that a seed gives, in order. */
export function seededRandom(seed: string): () => number {
  let count = 0;
  return () => {
    count += 1;
    const digits = sha256Text(JSON.stringify([seed, 'random', count]), 'hex').slice(0, 12);
    return Number.parseInt(digits, 16) / 2 ** 48;
  };
}
