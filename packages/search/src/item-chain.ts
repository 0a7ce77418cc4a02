/** The newest document of an item that nothing has superseded. */
export interface KnownItem {
  readonly seq: number;
  /** The tool it calls; null when it is no call. */
  readonly tool: string | null;
}

/** An item as it stands behind the records before those that are read. */
export interface EarlierItem {
  /** Seq of its newest snapshot's document; null when that has no text, or when there is no snapshot. */
  readonly seq: number | null;
  /** The tool that it calls; null when it calls none. */
  readonly tool: string | null;
  /** Whether it is completed, so that an `item.started` begins another one. It may be asked later, and seldom is. */
  readonly isCompleted: () => boolean;
}

/** What a reading from the first record on would know of the records before those that are read. */
export interface EarlierItems {
  find(itemId: string): EarlierItem;
}

const unseen: EarlierItem = { seq: null, tool: null, isCompleted: () => false };

/** For reading from the first record on. */
export const noEarlierItems: EarlierItems = { find: () => unseen };

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
  readonly #links = new Map<string, EarlierItem>();
  readonly #earlier: EarlierItems;

  constructor(earlier: EarlierItems = noEarlierItems) {
    this.#earlier = earlier;
  }

  /** Seq of the record that the snapshot supersedes; null when there is none. */
  add({ itemId, eventType, seq, tool, isKept }: Snapshot): number | null {
    const known = this.#link(itemId);
    const isStart = eventType === 'item.started';
    // Whether it was completed may be costly to know: it is asked only where something can be superseded.
    const isNew = isStart && known.seq !== null && known.isCompleted();
    this.#links.set(itemId, { seq: isKept ? seq : null, tool, isCompleted: completion(eventType, known) });
    return isNew ? null : known.seq;
  }

  /** The tool that the newest item of this id calls; null when it is not known. */
  toolOf(itemId: string): string | null {
    return this.#link(itemId).tool;
  }

  /** Whether the newest item of this id is completed. */
  isCompleted(itemId: string): boolean {
    return this.#link(itemId).isCompleted();
  }

  #link(itemId: string): EarlierItem {
    return this.#links.get(itemId) ?? this.#earlier.find(itemId);
  }
}

const isOpen = (): boolean => false;
const isDone = (): boolean => true;

/** A start is of a new item, or of one that was not completed; an update changes nothing in that. */
function completion(eventType: string, known: EarlierItem): () => boolean {
  if (eventType === 'item.completed') return isDone;
  return eventType === 'item.started' ? isOpen : known.isCompleted;
}
