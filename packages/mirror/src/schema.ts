/**
 * The tables of the mirror. A file of another version is not converted: it is built anew from the logs.
 *
 * Times are milliseconds since the epoch, null when unknown. Lists are JSON arrays.
 */

/** Raised whenever a table, a column, or what is written into one changes. */
export const mirrorFormat = 1;

/** The tables in the order of their logical digests, each with its key and its other columns. */
export interface MirrorTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** What the columns are selected from, where that is not the table by itself. */
  readonly from?: string;
}

/** Of a token its place among others means nothing: what counts is how often a chunk holds it. */
function ftsTable(name: string): MirrorTable {
  const from = `(SELECT term, session, seq, n, count(*) AS tf FROM ${name}_places
    LEFT JOIN chunk ON chunk.rowid = doc GROUP BY term, doc)`;
  return { name, key: ['term', 'session', 'seq', 'n'], columns: ['tf'], from };
}

export const mirrorTables: readonly MirrorTable[] = [
  {
    name: 'meta',
    key: ['name'],
    columns: ['value'],
    // What names one build, and how often it was written to.
    from: "(SELECT * FROM meta WHERE name NOT IN ('generation', 'built_from', 'revision'))",
  },
  {
    name: 'session',
    key: ['id'],
    columns: [
      'workspaces',
      'workspace',
      'cwd',
      'title',
      'agent',
      'parent',
      'model',
      'status',
      'created',
      'last_ts',
      'records',
      'turns',
      'first_seq',
      'last_seq',
      'unindexed_bytes',
    ],
  },
  {
    name: 'cursor',
    key: ['log'],
    columns: ['offset', 'seq', 'last_line_offset', 'last_line_sha256', 'tree'],
  },
  {
    name: 'record',
    key: ['session', 'seq', 'pos'],
    columns: ['type', 'item_id', 'item_type', 'turn', 'ts', 'archive', 'offset', 'length', 'flags'],
  },
  {
    name: 'chunk',
    key: ['session', 'seq', 'n'],
    columns: [
      'turn',
      'ts',
      'role',
      'kind',
      'tool',
      'paths',
      'item_id',
      'len',
      'text_offset',
      'text_length',
      'superseded_by',
      'superseded_ts',
    ],
  },
  ftsTable('chunk_fts'),
  ftsTable('superseded_fts'),
  {
    name: 'path_ref',
    key: ['path', 'session', 'seq', 'i'],
    columns: ['absolute', 'op', 'basis', 'old_start', 'old_lines', 'new_start', 'new_lines'],
  },
  {
    name: 'usage',
    key: ['session', 'key'],
    columns: [
      'source',
      'turn',
      'ts',
      'year',
      'month',
      'day',
      'model',
      'input_tokens',
      'cached_input_tokens',
      'cache_creation_tokens',
      'output_tokens',
      'cost_usd',
      'repeat_of',
    ],
  },
  { name: 'damage', key: ['session', 'offset'], columns: ['length', 'kind'] },
];

const ftsOptions = `content='', contentless_delete=1, detail=full, tokenize="ascii tokenchars '_'"`;

/** Makes all tables in an empty database. */
export const schemaSql: string = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE session (
  id TEXT PRIMARY KEY, workspaces TEXT NOT NULL, workspace TEXT, cwd TEXT, title TEXT, agent TEXT NOT NULL, parent TEXT, model TEXT,
  status TEXT NOT NULL, created INTEGER, last_ts INTEGER, records INTEGER NOT NULL, turns INTEGER NOT NULL,
  first_seq INTEGER, last_seq INTEGER NOT NULL, unindexed_bytes INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE cursor (
  log TEXT PRIMARY KEY, generation TEXT, offset INTEGER NOT NULL, seq INTEGER NOT NULL, last_line_offset INTEGER,
  last_line_sha256 TEXT, tree TEXT, file TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE record (
  session TEXT NOT NULL, seq INTEGER NOT NULL, pos INTEGER NOT NULL, type TEXT NOT NULL, item_id TEXT,
  item_type TEXT, turn INTEGER, ts INTEGER, generation TEXT, archive TEXT, offset INTEGER NOT NULL,
  length INTEGER NOT NULL, flags TEXT NOT NULL, PRIMARY KEY (session, seq, pos)
) WITHOUT ROWID;

CREATE TABLE chunk (
  rowid INTEGER PRIMARY KEY, session TEXT NOT NULL, seq INTEGER NOT NULL, n INTEGER NOT NULL, turn INTEGER,
  ts INTEGER, role TEXT NOT NULL, kind TEXT NOT NULL, tool TEXT, paths TEXT NOT NULL, item_id TEXT,
  len INTEGER NOT NULL, text_offset INTEGER NOT NULL, text_length INTEGER NOT NULL, superseded_by INTEGER,
  superseded_ts INTEGER, UNIQUE (session, seq, n)
);
-- In the order that is asked for: otherwise the key of the table is gone along, which costs the whole session.
CREATE INDEX chunk_item ON chunk (session, item_id, seq DESC, n) WHERE item_id IS NOT NULL AND superseded_by IS NULL;
CREATE INDEX chunk_time ON chunk (ts DESC, session, seq, n) WHERE superseded_by IS NULL;

CREATE VIRTUAL TABLE chunk_fts USING fts5(t, ${ftsOptions});
CREATE VIRTUAL TABLE chunk_fts_terms USING fts5vocab(chunk_fts, row);
CREATE VIRTUAL TABLE chunk_fts_places USING fts5vocab(chunk_fts, instance);
CREATE VIRTUAL TABLE superseded_fts USING fts5(t, ${ftsOptions});
CREATE VIRTUAL TABLE superseded_fts_terms USING fts5vocab(superseded_fts, row);
CREATE VIRTUAL TABLE superseded_fts_places USING fts5vocab(superseded_fts, instance);

CREATE TABLE path_ref (
  path TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL, i INTEGER NOT NULL, absolute TEXT, op TEXT NOT NULL,
  basis TEXT NOT NULL, old_start INTEGER, old_lines INTEGER, new_start INTEGER, new_lines INTEGER,
  PRIMARY KEY (path, session, seq, i)
) WITHOUT ROWID;
CREATE INDEX path_ref_session ON path_ref (session, seq);

CREATE TABLE usage (
  session TEXT NOT NULL, key TEXT NOT NULL, source TEXT NOT NULL, turn INTEGER, ts INTEGER, year INTEGER,
  month INTEGER, day INTEGER, model TEXT, input_tokens INTEGER, cached_input_tokens INTEGER,
  cache_creation_tokens INTEGER, output_tokens INTEGER, cost_usd REAL, repeat_of TEXT,
  PRIMARY KEY (session, key)
) WITHOUT ROWID;

-- What counts, each token once: answers of a model; a turn's own figure where no answer is named in it; that of the
-- thread where nothing else says any.
CREATE VIEW counted_usage AS SELECT * FROM usage AS own WHERE
  (source = 'answer' AND repeat_of IS NULL)
  OR (source = 'turn' AND NOT EXISTS (
    SELECT 1 FROM usage WHERE session = own.session AND turn = own.turn AND source = 'answer'))
  OR (source = 'thread' AND NOT EXISTS (
    SELECT 1 FROM usage WHERE session = own.session AND source <> 'thread' AND input_tokens IS NOT NULL));

CREATE TABLE damage (
  session TEXT NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, kind TEXT NOT NULL,
  PRIMARY KEY (session, offset)
) WITHOUT ROWID;
`;
