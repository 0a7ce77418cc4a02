import { documentKinds, recordRoles } from '@turnlog/events';
import {
  type AsOf,
  type ChunkFields,
  type ChunkTable,
  type CorpusStats,
  compareBytes,
  judgeFields,
  type Kind,
  type PostingSource,
  type Postings,
  type Presence,
  presenceAt,
  type QueryPlan,
  type Role,
  type SessionInfo,
} from '@turnlog/search';
import { ftsToken, tokenOf } from './fts-token.js';
import { metaValue } from './mirror-file.js';
import type { SqliteDatabase, SqliteStatement } from './sqlite-port.js';

/** Columns that a chunk is judged by. */
export const chunkColumns = `chunk.rowid AS place, session, seq, n, turn, ts, role, kind, tool, paths, len,
  superseded_by, superseded_ts`;

export interface ChunkRow {
  readonly place: number;
  readonly session: string;
  readonly seq: number;
  readonly n: number;
  readonly turn: number | null;
  readonly ts: number | null;
  readonly role: string;
  readonly kind: string;
  readonly tool: string | null;
  readonly paths: string;
  readonly len: number;
  readonly superseded_by: number | null;
  readonly superseded_ts: number | null;
}

export function fieldsOf(row: ChunkRow): ChunkFields {
  const { session, seq, n, turn, ts: tsMs, tool } = row;
  return {
    session,
    seq,
    n,
    turn,
    tsMs,
    role: roleOf(row.role),
    kind: kindOf(row.kind),
    tool,
    paths: textsIn(row.paths),
  };
}

function roleOf(text: string): Role {
  return recordRoles.find((role) => role === text) ?? 'unknown';
}

function kindOf(text: string): Kind {
  return documentKinds.find((kind) => kind === text) ?? 'unknown';
}

/** The texts of a stored list. */
export function textsIn(json: string): readonly string[] {
  const value: unknown = JSON.parse(json);
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

interface Occurrence {
  readonly doc: number;
  readonly tf: number;
}

type Table = 'chunk_fts' | 'superseded_fts';

/** Statements that find chunks, over one connection; they know nothing of any query. */
export class FtsStatements {
  readonly database: SqliteDatabase;
  readonly #postings: ReadonlyMap<Table, SqliteStatement<Occurrence>>;
  readonly #terms: ReadonlyMap<Table, SqliteStatement<{ readonly term: string }>>;
  readonly #chunk: SqliteStatement<ChunkRow>;
  readonly #all: SqliteStatement<
    Pick<ChunkRow, 'session' | 'seq' | 'ts' | 'len' | 'superseded_by' | 'superseded_ts'>
  >;
  readonly #session: SqliteStatement<{ readonly workspaces: string; readonly agent: string }>;

  constructor(database: SqliteDatabase) {
    const tables = ['chunk_fts', 'superseded_fts'] as const;
    this.database = database;
    // Occurrences are rows here, so that how often a token occurs can be counted without the text.
    this.#postings = new Map(
      tables.map((table) => [
        table,
        database.prepare(
          `SELECT doc, count(*) AS tf FROM ${table}_places WHERE term = ? GROUP BY doc ORDER BY doc`,
        ),
      ]),
    );
    this.#terms = new Map(
      tables.map((table) => [
        table,
        database.prepare(`SELECT term FROM ${table}_terms WHERE term >= ? AND term < ?`),
      ]),
    );
    this.#chunk = database.prepare(`SELECT ${chunkColumns} FROM chunk WHERE rowid = ?`);
    this.#all = database.prepare('SELECT session, seq, ts, len, superseded_by, superseded_ts FROM chunk');
    this.#session = database.prepare('SELECT workspaces, agent FROM session WHERE id = ?');
  }

  addPostings(table: Table, token: string, into: Map<number, number>, isOver: () => boolean): void {
    const look = lookNowAndThen(isOver);
    for (const { doc, tf } of this.#postings.get(table)?.iterate(ftsToken(token)) ?? []) {
      if (look()) return;
      into.set(doc, tf);
    }
  }

  addTokens(table: Table, prefix: string, into: Set<string>): void {
    const start = ftsToken(prefix);
    // No code point comes behind the last one, so this is behind every token with that beginning.
    for (const { term } of this.#terms.get(table)?.iterate(start, `${start}\u{10ffff}\u{10ffff}`) ?? [])
      into.add(tokenOf(term));
  }

  chunk(place: number): ChunkRow | null {
    return this.#chunk.get(place) ?? null;
  }

  live(): CorpusStats {
    const [chunkCount, tokenCount] = ['chunk_count', 'token_count'].map((name) =>
      Number(metaValue(this.database, name) ?? 0),
    );
    return { chunkCount: chunkCount ?? 0, tokenCount: tokenCount ?? 0 };
  }

  at(asOf: AsOf, isOver: () => boolean): CorpusStats {
    const look = lookNowAndThen(isOver);
    let [chunkCount, tokenCount] = [0, 0];
    for (const row of this.#all.iterate()) {
      if (look()) break;
      if (presenceOf(asOf, row) !== 'there') continue;
      chunkCount += 1;
      tokenCount += row.len;
    }
    return { chunkCount, tokenCount };
  }

  session(session: string): SessionInfo | null {
    const row = this.#session.get(session);
    if (row === undefined) return null;
    const { agent } = row;
    const isNamed = agent === 'subagent' || agent === 'headless';
    return { session, workspaces: textsIn(row.workspaces), agent: isNamed ? agent : 'primary' };
  }
}

function presenceOf(
  asOf: AsOf | null,
  row: Pick<ChunkRow, 'session' | 'seq' | 'ts' | 'superseded_by' | 'superseded_ts'>,
): Presence {
  const { session, seq, ts: tsMs, superseded_by: by, superseded_ts: byMs } = row;
  if (asOf === null) return by === null ? 'there' : 'no';
  return presenceAt(asOf, session, { seq, tsMs }, by === null ? null : { seq: by, tsMs: byMs });
}

const rowsPerLook = 1_024;

/** Looks at the time at the first row and at some of those behind it. */
function lookNowAndThen(isOver: () => boolean): () => boolean {
  let rows = 0;
  return () => {
    rows += 1;
    return rows % rowsPerLook === 1 && isOver();
  };
}

/** The chunks of a mirror as one query sees them: now, or at a past moment. */
export class FtsPostings implements PostingSource {
  readonly table: ChunkTable;
  readonly #statements: FtsStatements;
  readonly #asOf: AsOf | null;
  readonly #isOver: () => boolean;
  readonly #tables: readonly Table[];
  readonly #sessions = new Map<string, SessionInfo>();
  readonly #rows = new Map<number, ChunkRow>();

  /** From when on `isOver` says so, it gives some of what there is, for a query that ends there. */
  constructor(
    statements: FtsStatements,
    { filters, asOf }: Pick<QueryPlan, 'filters' | 'asOf'>,
    isOver: () => boolean = () => false,
  ) {
    this.#statements = statements;
    this.#isOver = isOver;
    this.#asOf = asOf;
    this.#tables = asOf === null ? ['chunk_fts'] : ['chunk_fts', 'superseded_fts'];
    this.table = {
      len: (place) => this.#row(place).len,
      tsMs: (place) => this.#row(place).ts,
      key: (place) => this.#row(place),
      fields: (place) => fieldsOf(this.#row(place)),
      judge: (place) =>
        judgeFields(filters, fieldsOf(this.#row(place)), this.#info(this.#row(place).session)),
      workspaces: (place) => this.#info(this.#row(place).session).workspaces,
    };
  }

  statistics(): CorpusStats {
    return this.#asOf === null ? this.#statements.live() : this.#statements.at(this.#asOf, this.#isOver);
  }

  postings(token: string): Postings {
    const found = new Map<number, number>();
    for (const table of this.#tables) this.#statements.addPostings(table, token, found, this.#isOver);
    return found;
  }

  /** The other names of tokens stand in another order, so all of them are asked for first. */
  tokensFrom(prefix: string): Iterable<string> {
    const tokens = new Set<string>();
    for (const table of this.#tables) this.#statements.addTokens(table, prefix, tokens);
    return [...tokens].sort(compareBytes);
  }

  presence(place: number): Presence {
    // What counts now is in the one table that is asked then.
    return this.#asOf === null ? 'there' : presenceOf(this.#asOf, this.#row(place));
  }

  #row(place: number): ChunkRow {
    const known = this.#rows.get(place);
    if (known !== undefined) return known;
    const row = this.#statements.chunk(place);
    if (row === null) throw new LostChunk(place);
    this.#rows.set(place, row);
    return row;
  }

  #info(session: string): SessionInfo {
    const known = this.#sessions.get(session);
    if (known !== undefined) return known;
    const info = this.#statements.session(session) ?? { session, workspaces: [], agent: 'primary' };
    this.#sessions.set(session, info);
    return info;
  }
}

/** Tokens of a chunk that has no row: the database contradicts itself. */
export class LostChunk extends Error {
  readonly code = 'SQLITE_CORRUPT';

  constructor(place: number) {
    super(`no chunk has the number ${place}`);
  }
}
