import { documentKinds, recordRoles } from '@turnlog/events';
import type { Kind, Role } from '../chunk.js';

/** Numbers by ordinal, wherever they lie. */
export interface NumberColumn {
  at(ordinal: number): number;
}

/** The columns that every source has; how tools and paths are kept is its own. */
export interface ChunkColumns {
  readonly log: NumberColumn;
  readonly seq: NumberColumn;
  readonly n: NumberColumn;
  /** One more than the turn; 0 for none. */
  readonly turn: NumberColumn;
  readonly ts: NumberColumn;
  readonly role: NumberColumn;
  readonly kind: NumberColumn;
  readonly tool: NumberColumn;
  readonly itemHigh: NumberColumn;
  readonly itemLow: NumberColumn;
}

/** Reads the fields of chunks from columns, as `ChunkSource` names them. */
export class ColumnSource {
  readonly #columns: ChunkColumns;

  constructor(columns: ChunkColumns) {
    this.#columns = columns;
  }

  log(ordinal: number): number {
    return this.#columns.log.at(ordinal);
  }

  seq(ordinal: number): number {
    return this.#columns.seq.at(ordinal);
  }

  n(ordinal: number): number {
    return this.#columns.n.at(ordinal);
  }

  turn(ordinal: number): number | null {
    const turn = this.#columns.turn.at(ordinal);
    return turn === 0 ? null : turn - 1;
  }

  time(ordinal: number): number {
    return this.#columns.ts.at(ordinal);
  }

  role(ordinal: number): Role {
    return recordRoles[this.#columns.role.at(ordinal)] ?? 'unknown';
  }

  kind(ordinal: number): Kind {
    return documentKinds[this.#columns.kind.at(ordinal)] ?? 'unknown';
  }

  toolNumber(ordinal: number): number {
    return this.#columns.tool.at(ordinal);
  }

  itemHigh(ordinal: number): number {
    return this.#columns.itemHigh.at(ordinal);
  }

  itemLow(ordinal: number): number {
    return this.#columns.itemLow.at(ordinal);
  }
}
