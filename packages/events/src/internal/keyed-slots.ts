const bitsPerLevel = 5;
const width = 32;

/** A node of the tree of slots: a branch has nodes, a leaf has values. */
interface Node<Value> {
  readonly nodes: readonly Node<Value>[];
  readonly values: readonly Value[];
}

/** Which slots each key has, shared by all versions that grew out of one another; later slots are not theirs. */
interface SharedKeys {
  readonly slots: Map<string, number[]>;
  count: number;
}

/**
 * Values in the order they were added, found by key: keys may repeat, and the newest value of one is found. Each
 * change makes a new version and leaves older ones as they are, at the cost of a few small nodes and not of a
 * copy, so that a pure fold stays linear in the length of its log.
 */
export class KeyedSlots<Value> {
  readonly length: number;
  readonly #root: Node<Value>;
  readonly #levels: number;
  readonly #keys: SharedKeys;

  private constructor(root: Node<Value>, levels: number, length: number, keys: SharedKeys) {
    this.#root = root;
    this.#levels = levels;
    this.length = length;
    this.#keys = keys;
  }

  static empty<Value>(): KeyedSlots<Value> {
    return new KeyedSlots<Value>({ nodes: [], values: [] }, 0, 0, { slots: new Map(), count: 0 });
  }

  /** The newest slot of `key`; null when it has none. */
  newest(key: string): number | null {
    return this.#keys.slots.get(key)?.findLast((slot) => slot < this.length) ?? null;
  }

  at(slot: number): Value | null {
    if (slot < 0 || slot >= this.length) return null;
    let node: Node<Value> | undefined = this.#root;
    for (let level = this.#levels; level > 0; level -= 1) node = node?.nodes[digit(slot, level)];
    return node?.values[digit(slot, 0)] ?? null;
  }

  /** With one more value, in a slot of its own. */
  add(key: string, value: Value): KeyedSlots<Value> {
    const slot = this.length;
    const keys = this.#keys.count === slot ? this.#keys : copyKeys(this.#keys, slot);
    const slots = keys.slots.get(key);
    if (slots === undefined) keys.slots.set(key, [slot]);
    else slots.push(slot);
    keys.count = slot + 1;
    const isFull = slot >= width ** (this.#levels + 1);
    const root = isFull ? { nodes: [this.#root], values: [] } : this.#root;
    const levels = this.#levels + (isFull ? 1 : 0);
    return new KeyedSlots(withValue(root, levels, slot, value), levels, slot + 1, keys);
  }

  /** With another value in a slot that there is. */
  replace(slot: number, value: Value): KeyedSlots<Value> {
    const root = withValue(this.#root, this.#levels, slot, value);
    return new KeyedSlots(root, this.#levels, this.length, this.#keys);
  }

  /** All values, by slot. */
  *values(): Iterable<Value> {
    for (let slot = 0; slot < this.length; slot += 1) {
      const value = this.at(slot);
      if (value !== null) yield value;
    }
  }
}

function digit(slot: number, level: number): number {
  return Math.floor(slot / 2 ** (bitsPerLevel * level)) % width;
}

function withValue<Value>(
  node: Node<Value> | undefined,
  level: number,
  slot: number,
  value: Value,
): Node<Value> {
  const at = digit(slot, level);
  if (level === 0) {
    const values = [...(node?.values ?? [])];
    values[at] = value;
    return { nodes: [], values };
  }
  const nodes = [...(node?.nodes ?? [])];
  nodes[at] = withValue(nodes[at], level - 1, slot, value);
  return { nodes, values: [] };
}

/** Keys of their own for a version that others have grown out of already. */
function copyKeys(keys: SharedKeys, length: number): SharedKeys {
  const slots = new Map<string, number[]>();
  for (const [key, own] of keys.slots) {
    const kept = own.filter((slot) => slot < length);
    if (kept.length > 0) slots.set(key, kept);
  }
  return { slots, count: length };
}
