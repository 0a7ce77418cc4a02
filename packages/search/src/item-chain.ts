/** The newest document of an item. */
export interface KnownItem {
  readonly seq: number;
  /** The tool it calls; null when it is no call. */
  readonly tool: string | null;
}

/** What is known of the records before those that are read: an index answers it from its own columns. */
export interface EarlierItems {
  /** The newest document of the item that nothing has superseded yet; null when there is none. */
  find(itemId: string): KnownItem | null;
  /**
   * Whether the item is completed as of the record of that seq, so that an `item.started` begins another one; not
   * asked of items that are completed next.
   */
  isCompletion(seq: number): boolean;
}

/** For reading from the first record on. */
export const noEarlierItems: EarlierItems = { find: () => null, isCompletion: () => false };

interface Link {
  /** Seq of the newest document; null when the newest snapshot has no text. */
  readonly seq: number | null;
  readonly tool: string | null;
  readonly isCompleted: boolean | null;
}

/** A snapshot of an item, in the order of the log. */
export interface Snapshot {
  readonly itemId: string;
  readonly eventType: string;
  readonly seq: number;
  readonly tool: string | null;
  /** Whether it is kept under its seq: only that can be superseded. */
  readonly isKept: boolean;
}

/**
 * Which record supersedes which: records of one item id describe one item and the newest counts, but an
 * `item.started` behind the completion of its id begins a new item (contract, C-11).
 */
export class ItemChain {
  readonly #links = new Map<string, Link>();
  readonly #earlier: EarlierItems;

  constructor(earlier: EarlierItems = noEarlierItems) {
    this.#earlier = earlier;
  }

  /** Seq of the record that the snapshot supersedes; null when there is none. */
  add({ itemId, eventType, seq, tool, isKept }: Snapshot): number | null {
    const known = this.#link(itemId);
    const isNew = known === null || (eventType === 'item.started' && this.#isCompleted(known));
    // Asked now: once the link is that of this snapshot, nobody knows which record it was asked of.
    const isCompleted = eventType === 'item.completed' || (!isNew && this.#isCompleted(known));
    this.#links.set(itemId, { seq: isKept ? seq : null, tool, isCompleted });
    return isNew ? null : known.seq;
  }

  /** The tool that the newest item of this id calls; null when it is not known. */
  toolOf(itemId: string): string | null {
    return this.#link(itemId)?.tool ?? null;
  }

  #link(itemId: string): Link | null {
    const known = this.#links.get(itemId);
    if (known !== undefined) return known;
    const found = this.#earlier.find(itemId);
    return found === null ? null : { ...found, isCompleted: null };
  }

  #isCompleted({ seq, isCompleted }: Link): boolean {
    return isCompleted ?? (seq !== null && this.#earlier.isCompletion(seq));
  }
}
