import type { ModelFile, NodeFacts } from './model-file.js';

/** A symbolic link. Only tests make them. */
export interface ModelLink {
  readonly kind: 'link';
  readonly facts: NodeFacts;
  readonly target: string;
}

export type ModelNode = ModelFile | ModelDirectory | ModelLink;

/** One change of a table, all of it or nothing: a rename within a directory sets two names. */
export interface TableChange {
  readonly sets: readonly (readonly [name: string, node: ModelNode | null])[];
  /** The arrival of a node in another directory, without which its departure from this one is not kept. */
  readonly after: { readonly directory: ModelDirectory; readonly change: TableChange } | null;
}

/**
 * A directory in two layers: the table programs see, and the one a disk holds for certain with the changes since
 * then. A crash keeps a prefix of the changes of each directory.
 */
export class ModelDirectory {
  readonly kind = 'directory';
  readonly facts: NodeFacts;
  readonly #visible: Map<string, ModelNode>;
  #durable: ReadonlyMap<string, ModelNode>;
  #pending: TableChange[] = [];

  /** A directory whose table is durable. The table is kept, not copied. */
  constructor(facts: NodeFacts, table: ReadonlyMap<string, ModelNode>) {
    this.facts = facts;
    this.#visible = new Map(table);
    this.#durable = table;
  }

  get durable(): ReadonlyMap<string, ModelNode> {
    return this.#durable;
  }

  get visible(): ReadonlyMap<string, ModelNode> {
    return this.#visible;
  }

  get pending(): readonly TableChange[] {
    return this.#pending;
  }

  apply(change: TableChange): void {
    this.#pending.push(change);
    setAll(this.#visible, change);
  }

  sync(): void {
    this.#promote(this.#pending.length);
  }

  /** The table a disk holds when it kept the first `changeCount` pending changes. */
  tableAfter(changeCount: number): ReadonlyMap<string, ModelNode> {
    if (changeCount === 0) return this.#durable;
    const table = new Map(this.#durable);
    for (const change of this.#pending.slice(0, changeCount)) setAll(table, change);
    return table;
  }

  #promote(changeCount: number): void {
    if (changeCount === 0) return;
    const promoted = this.#pending.slice(0, changeCount);
    this.#durable = this.tableAfter(changeCount);
    this.#pending = this.#pending.slice(changeCount);
    for (const { after } of promoted) {
      if (after === null) continue;
      const { directory, change } = after;
      directory.#promote(directory.#pending.indexOf(change) + 1);
    }
  }
}

function setAll(table: Map<string, ModelNode>, change: TableChange): void {
  for (const [name, node] of change.sets) {
    if (node === null) table.delete(name);
    else table.set(name, node);
  }
}
