import type { ChunkFields } from './chunk.js';
import { compareBytes } from './chunk-id.js';

/** How many matches have each value; the most frequent first, equals by bytes. */
export type FacetValues = readonly { readonly value: string; readonly count: number }[];

export interface Facets {
  readonly session: FacetValues;
  readonly role: FacetValues;
  readonly kind: FacetValues;
  readonly tool: FacetValues;
  readonly workspace: FacetValues;
  readonly day: FacetValues;
}

/** Counts the matches of a query by what they have in common, all of them. */
export class FacetCounts {
  readonly #dayOf: (tsMs: number | null) => string;
  readonly #counts: Readonly<Record<keyof Facets, Map<string, number>>> = {
    session: new Map(),
    role: new Map(),
    kind: new Map(),
    tool: new Map(),
    workspace: new Map(),
    day: new Map(),
  };

  /** `dayOf` gives the day of a time in the zone of the reader. */
  constructor(dayOf: (tsMs: number | null) => string) {
    this.#dayOf = dayOf;
  }

  count(fields: ChunkFields, workspaces: readonly string[]): void {
    this.#add('session', fields.session);
    this.#add('role', fields.role);
    this.#add('kind', fields.kind);
    if (fields.tool !== null) this.#add('tool', fields.tool);
    for (const workspace of workspaces) this.#add('workspace', workspace);
    this.#add('day', this.#dayOf(fields.tsMs));
  }

  counts(): Facets {
    const { session, role, kind, tool, workspace, day } = this.#counts;
    return {
      session: sorted(session),
      role: sorted(role),
      kind: sorted(kind),
      tool: sorted(tool),
      workspace: sorted(workspace),
      day: sorted(day),
    };
  }

  #add(facet: keyof Facets, value: string): void {
    const counts = this.#counts[facet];
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
}

function sorted(counts: ReadonlyMap<string, number>): FacetValues {
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((left, right) => right.count - left.count || compareBytes(left.value, right.value));
}
