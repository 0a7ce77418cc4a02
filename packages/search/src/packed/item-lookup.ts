import { type ChunkSource, ordinalsOfLog } from './chunk-source.js';
import { hashKey, itemHash } from './item-hash.js';

/** Ordinals by item, of one log of one source. */
type ItemTable = Map<number, number[]>;

interface Known {
  readonly tables: Map<number, ItemTable>;
  /** Of a source that grows: how many of its chunks have been looked at. */
  upTo: number;
}

/** Finds the chunks of an item by the hash of its id. What was looked up is kept until `forget`. */
export class ItemLookup {
  #known = new Map<ChunkSource, Known>();

  /** The chunks of the item in a log of a source, in the order of their ordinals. */
  find(source: ChunkSource, log: number, itemId: string): readonly number[] {
    const hash = itemHash(itemId);
    const found = this.#tableOf(source, log).get(hashKey(hash)) ?? [];
    return found.filter(
      (ordinal) => source.itemHigh(ordinal) === hash.high && source.itemLow(ordinal) === hash.low,
    );
  }

  /** Lets go of everything but what is known of `kept`. */
  forget(kept: ChunkSource | null): void {
    const known = kept === null ? undefined : this.#known.get(kept);
    this.#known = new Map();
    if (kept !== null && known !== undefined) this.#known.set(kept, known);
  }

  #tableOf(source: ChunkSource, log: number): ItemTable {
    const known = this.#known.get(source) ?? { tables: new Map(), upTo: 0 };
    this.#known.set(source, known);
    if (source.order === 'arrival') {
      for (; known.upTo < source.chunkCount; known.upTo += 1) {
        note(tableIn(known, source.log(known.upTo)), source, known.upTo);
      }
      return tableIn(known, log);
    }
    const present = known.tables.get(log);
    if (present !== undefined) return present;
    const table = tableIn(known, log);
    for (const ordinal of ordinalsOfLog(source, log)) note(table, source, ordinal);
    return table;
  }
}

function tableIn({ tables }: Known, log: number): ItemTable {
  const table = tables.get(log) ?? new Map<number, number[]>();
  tables.set(log, table);
  return table;
}

function note(table: ItemTable, source: ChunkSource, ordinal: number): void {
  const hash = { high: source.itemHigh(ordinal), low: source.itemLow(ordinal) };
  if (hash.high === 0 && hash.low === 0) return;
  const key = hashKey(hash);
  const ordinals = table.get(key);
  if (ordinals === undefined) table.set(key, [ordinal]);
  else ordinals.push(ordinal);
}
