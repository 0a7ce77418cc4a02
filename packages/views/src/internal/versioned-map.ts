/** Where a version stands: it owns the table, or it says how it differs from a younger version. */
type Place<Key, Value> =
  | { readonly table: Map<Key, Value> }
  | {
      readonly next: VersionedMap<Key, Value>;
      readonly key: Key;
      /** What the key has in this version; null when it is not in it. */
      readonly own: { readonly value: Value } | null;
    };

/**
 * A map of which every change makes a new version and leaves the older ones as they are, without copying: the
 * youngest owns the table, an older one keeps what was changed since. So a pure fold stays linear in its log. Keys
 * are in the order they were first set in; no prototype is involved.
 */
export class VersionedMap<Key, Value> {
  #place: Place<Key, Value>;

  private constructor(place: Place<Key, Value>) {
    this.#place = place;
  }

  static empty<Key, Value>(): VersionedMap<Key, Value> {
    return new VersionedMap<Key, Value>({ table: new Map() });
  }

  static from<Key, Value>(entries: Iterable<readonly [Key, Value]>): VersionedMap<Key, Value> {
    return new VersionedMap<Key, Value>({ table: new Map(entries) });
  }

  get size(): number {
    return this.#table().size;
  }

  get(key: Key): Value | undefined {
    return this.#table().get(key);
  }

  has(key: Key): boolean {
    return this.#table().has(key);
  }

  set(key: Key, value: Value): VersionedMap<Key, Value> {
    return this.#changed(key, (table) => table.set(key, value));
  }

  /** Without a key. This one copies: it is for maps that stay small. */
  without(key: Key): VersionedMap<Key, Value> {
    if (!this.has(key)) return this;
    return VersionedMap.from(this.entries().filter(([present]) => present !== key));
  }

  entries(): readonly (readonly [Key, Value])[] {
    return [...this.#table()];
  }

  values(): readonly Value[] {
    return [...this.#table().values()];
  }

  #changed(key: Key, change: (table: Map<Key, Value>) => void): VersionedMap<Key, Value> {
    const table = this.#table();
    const own = table.has(key) ? { value: table.get(key) as Value } : null;
    change(table);
    const next = new VersionedMap<Key, Value>({ table });
    this.#place = { next, key, own };
    return next;
  }

  /** The table of this version, taken over from the version that owns it. */
  #table(): Map<Key, Value> {
    const path: VersionedMap<Key, Value>[] = [];
    let version: VersionedMap<Key, Value> = this;
    while ('next' in version.#place) {
      path.push(version);
      version = version.#place.next;
    }
    const { table } = version.#place;
    for (const older of path.reverse()) {
      older.#takeOver(table);
    }
    return table;
  }

  /** Becomes the owner of the table, which is that of the next version. */
  #takeOver(table: Map<Key, Value>): void {
    if (!('next' in this.#place)) return;
    const { next, key, own } = this.#place;
    const present = table.has(key) ? { value: table.get(key) as Value } : null;
    if (own === null) table.delete(key);
    else table.set(key, own.value);
    next.#place = { next: this, key, own: present };
    this.#place = { table };
  }
}
