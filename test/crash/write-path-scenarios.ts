import { dirname } from 'node:path';
import { temporaryNamePattern } from '@turnlog/fs';
import { importSources } from '@turnlog/importers';
import { sha256Hex } from '@turnlog/kernel';
import { AssetStore, openRedactionKey, passThrough } from '@turnlog/store';
import { exportSession, publishViews, rebuildSession, rebuildViews, writeExport } from '@turnlog/views';
import { runHere } from '../run-here.js';
import { snapshotOf } from './disk-tools.js';
import { type PathFacts, type PathWorld, root, type WritePath } from './write-path-world.js';

const log = `${root}/sessions/s-1/events.jsonl`;

/** One closed turn with a call in it. */
async function recordTurn({ store }: PathWorld, n: number): Promise<void> {
  const session = await store.open('s-1');
  const item = { id: `i${n}`, type: 'command_execution', command: 'ls', status: 'completed', exit_code: 0 };
  session.append({ type: 'turn.started' });
  session.append({ raw: JSON.stringify({ type: 'item.completed', item }) });
  session.append({ raw: '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}' });
  await session.close();
}

/** Whatever else is written, a log that is not its business keeps its bytes. */
function logProblems({ fs }: PathWorld, { before }: PathFacts): readonly string[] {
  const bytes = Buffer.from(fs.contentOf(log)).toString('latin1');
  return bytes === before.get(log) ? [] : ['I11 the log is not as it was'];
}

/** Files that a path was not to leave: other names than those given, and temp files that nobody may look for. */
function strangers({ fs }: PathWorld, directory: string, wanted: RegExp): readonly string[] {
  return [...snapshotOf(fs, directory).keys()]
    .filter((path) => !wanted.test(path) && !temporaryNamePattern.test(path.split('/').at(-1) ?? ''))
    .map((path) => `${directory}${path} is there`);
}

/** The old bytes or the new ones, and the new ones once that was said. */
function fileProblems(
  { fs }: PathWorld,
  { before, acknowledged }: PathFacts,
  path: string,
  isNew: (text: string) => boolean,
): readonly string[] {
  const text = fs.status(path) === null ? undefined : Buffer.from(fs.contentOf(path)).toString('latin1');
  if (text !== undefined && isNew(text)) return [];
  if (text !== before.get(path)) return [`I1 ${path} is neither old nor new: ${text}`];
  return acknowledged.length === 0 ? [] : [`I1 ${path} was said to be new and is old`];
}

const viewPublish: WritePath = {
  name: 'view publish',
  disksMax: 16,
  prepare: async (world) => {
    await recordTurn(world, 1);
    publishViews(world.store, 's-1');
    await recordTurn(world, 2);
  },
  run: async ({ store }) => publishViews(store, 's-1'),
  // A torn view is known as such and not used; one that is used says what the log says.
  crashed: (world, facts) => [
    ...logProblems(world, facts),
    ...rebuildViews(world.store, 's-1', 'check')
      .filter(({ outcome }) => outcome === 'different')
      .map(({ name, difference }) => `I9 ${name}: ${JSON.stringify(difference)}`),
  ],
  finished: (world, facts) => [
    ...logProblems(world, facts),
    ...rebuildViews(world.store, 's-1', 'check')
      .filter(({ outcome }) => outcome !== 'equal')
      .map(({ name, outcome }) => `I9 ${name} is ${outcome}`),
    ...strangers(world, `${root}/sessions/s-1/derived`, /^\/[a-z]+\.json$/),
  ],
};

const rebuild: WritePath = {
  name: 'rebuild of views and index',
  disksMax: 8,
  prepare: async (world) => {
    await recordTurn(world, 1);
    publishViews(world.store, 's-1');
    await recordTurn(world, 2);
    for (const path of ['index/turns.jsonl', 'derived/usage.json', 'manifest.json']) {
      world.fs.plantFile(`${root}/sessions/s-1/${path}`, Buffer.from('{"turnlog":'));
    }
  },
  run: async ({ store }) => void (await rebuildSession(store, 's-1', { mode: 'publish' })),
  crashed: logProblems,
  finished: (world, facts) => [
    ...viewPublish.finished(world, facts),
    ...(world.store.summarize('s-1').events === 6 ? [] : ['I5 the rebuilt session has not six records']),
    ...strangers(
      world,
      `${root}/sessions/s-1`,
      /^\/(events\.jsonl|manifest\.json|index\/turns\.jsonl|derived\/[a-z]+\.json)$/,
    ),
  ],
};

const blobs = ['first', 'second '.repeat(3_000)].map((text) => Buffer.from(text));

const assets: WritePath = {
  name: 'asset store',
  prepare: async (world) => {
    await recordTurn(world, 1);
    new AssetStore(world.store.environment, root).put(Buffer.from('was there'));
  },
  run: async ({ store, acknowledge }) => {
    const place = new AssetStore(store.environment, root);
    for (const blob of blobs) {
      acknowledge(place.put(blob).sha256);
      const pieces = [blob, Buffer.from('.'), blob];
      acknowledge(place.putPieces(pieces).sha256);
    }
    acknowledge(place.put(Buffer.from('was there')).sha256);
  },
  crashed: (world, facts) => {
    const held = new Map(
      [...snapshotOf(world.fs, `${root}/assets`)].map(([path, bytes]) => [
        path.split('/').at(-1) ?? '',
        bytes,
      ]),
    );
    const named = [...held.keys()].filter((name) => /^[0-9a-f]{64}$/.test(name));
    const wrong = [...named, ...facts.acknowledged].filter(
      (sha256) => sha256Hex(Buffer.from(held.get(sha256) ?? '', 'latin1')) !== sha256,
    );
    return [
      ...logProblems(world, facts),
      ...wrong.map((sha256) => `I1 the blob ${sha256} is not whole`),
      ...strangers(world, `${root}/assets`, /^\/([0-9a-f]{2})\/\1[0-9a-f]{62}$/),
    ];
  },
  finished: (world, facts) => [
    ...assets.crashed(world, facts),
    ...([...snapshotOf(world.fs, `${root}/assets`).keys()].filter((path) => path.length === 68).length === 5
      ? []
      : ['not every blob is there once']),
  ],
};

const target = '/out/s-1.md';

const exportWrite: WritePath = {
  name: 'export over an older file',
  prepare: async (world) => {
    await recordTurn(world, 1);
    world.fs.plantFile(target, Buffer.from('the old document'));
  },
  run: async ({ store, acknowledge }) => {
    const document = exportSession({ store, id: 's-1', format: 'md', redactor: passThrough });
    writeExport(store.environment, target, document, { force: true });
    acknowledge('exported');
  },
  crashed: (world, facts) => [
    ...logProblems(world, facts),
    ...fileProblems(world, facts, target, (text) => text === documentIn(world)),
    ...strangers(world, '/out', /^\/s-1\.md$/),
  ],
  finished: (world, facts) => exportWrite.crashed(world, { ...facts, acknowledged: ['exported'] }),
};

function documentIn({ store }: PathWorld): string {
  const chunks = [...exportSession({ store, id: 's-1', format: 'md', redactor: passThrough })];
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString('latin1');
}

const settings = '/u/.config/turnlog/config.json';
const oldSettings = '{"tz":"UTC","color":"never"}';
const newSettings = '{\n  "tz": "Europe/Berlin",\n  "color": "never"\n}\n';

const configSet: WritePath = {
  name: 'config set',
  prepare: async ({ fs }) => fs.plantFile(settings, Buffer.from(oldSettings)),
  run: async ({ store, acknowledge }) => {
    const { environment } = store;
    const argv = ['config', 'set', 'tz', 'Europe/Berlin'];
    const { exit } = await runHere(argv, { env: { HOME: '/u', TURNLOG_ROOT: root }, environment });
    // The model stops the machine inside of a call, which the program tells as a defect of its own.
    environment.fs.status(settings);
    if (exit === 0) acknowledge('set');
  },
  crashed: (world, facts) => [
    ...fileProblems(world, facts, settings, (text) => text === newSettings),
    ...strangers(world, dirname(settings), /^\/config\.json$/),
  ],
  finished: (world, facts) => configSet.crashed(world, { ...facts, acknowledged: ['set'] }),
};

const keyFile = `${root}/redaction.key`;

const redactionKey: WritePath = {
  name: 'redaction key',
  prepare: (world) => recordTurn(world, 1),
  run: async ({ store, acknowledge }) => {
    const key = openRedactionKey({ ...store.environment, pause: () => undefined }, root);
    if (key.scope === 'store') acknowledge(Buffer.from(key.reveal()).toString('latin1'));
  },
  crashed: (world, facts) => [
    ...logProblems(world, facts),
    ...(facts.acknowledged.every((key) => snapshotOf(world.fs, root).get('/redaction.key') === key)
      ? []
      : ['I1 the key that marks were made with is another one']),
  ],
  finished: (world, facts) => {
    const bytes = world.fs.contentOf(keyFile);
    const isKey = bytes.length === 32 && bytes.some((byte) => byte !== 0);
    return [...redactionKey.crashed(world, facts), ...(isKey ? [] : ['the key is none that was made'])];
  },
};

const thread = 'aaaaaaaa-0000-4000-8000-00000000000a';

/** A rollout of one turn per text. */
function rollout(...texts: readonly string[]): Uint8Array {
  const line = (second: number, type: string, payload: object): string =>
    `${JSON.stringify({ timestamp: new Date(Date.UTC(2026, 0, 2, 0, 0, second)).toISOString(), type, payload })}\n`;
  const said = (role: string, type: string, text: string): object => ({
    type: 'message',
    role,
    content: [{ type, text }],
  });
  const head = line(0, 'session_meta', { id: thread, cwd: '/w', originator: 'codex_cli_rs' });
  const turns = texts.flatMap((text, at) => [
    line(2 * at + 1, 'response_item', said('user', 'input_text', 'go on')),
    line(2 * at + 2, 'response_item', said('assistant', 'output_text', text)),
  ]);
  return Buffer.from(head + turns.join(''));
}

async function importAll({ store }: PathWorld): Promise<boolean> {
  const { environment } = store;
  const report = await importSources(
    { environment, sessionsDirectory: `${root}/sessions` },
    { sources: [{ path: '/foreign' }], final: true },
  );
  const failure = report.sources.find(({ error }) => error !== null)?.error;
  if (failure !== undefined && failure !== null) throw failure;
  return report.isWhole;
}

/** What an imported session says, in order; null when there is none. */
function importedTexts({ store }: PathWorld): readonly string[] | null {
  const id = `codex-${thread}`;
  if (!store.has(id)) return null;
  const reader = store.read(id, { unreadable: 'show' });
  try {
    return [...reader.records()].flatMap((record) => {
      const event: { type: string; item?: unknown } = { ...record.readEvent(), type: record.type };
      const text = event.type === 'item.completed' ? JSON.stringify(event.item) : '';
      return /"agent_message".*"text":"([a-z]+)"/.exec(text)?.[1] ?? [];
    });
  } finally {
    reader.close();
  }
}

function importOf(name: string, first: readonly string[], all: readonly string[]): WritePath {
  const path: WritePath = {
    name,
    disksMax: 8,
    prepare: async (world) => {
      await recordTurn(world, 1);
      world.fs.plantFile('/foreign/a.jsonl', rollout(...(first.length === 0 ? all : first)));
      if (first.length === 0) return;
      await importAll(world);
      world.fs.plantFile('/foreign/a.jsonl', rollout(...all));
    },
    run: async (world) => {
      if (await importAll(world)) world.acknowledge('imported');
    },
    crashed: (world, facts) => {
      const texts = importedTexts(world);
      const least = facts.acknowledged.length > 0 ? all : first;
      const isBeginning = (texts ?? []).every((text, at) => text === all[at]);
      const isThere = (texts ?? []).length >= least.length;
      return [
        ...logProblems(world, facts),
        ...(isBeginning && isThere ? [] : [`I1 the session says ${texts} of ${all}, at least ${least}`]),
      ];
    },
    finished: (world, facts) => [
      ...path.crashed(world, { ...facts, acknowledged: ['imported'] }),
      ...[...snapshotOf(world.fs, `${root}/sessions`).keys()]
        // A temp file beside the log goes when a writer opens it; all else is the import's own.
        .filter((file) => /\/\.import-|\/derived\/\.t-|session\.|pending/.test(file))
        .map((file) => `I8 ${file} is left`),
    ],
  };
  return path;
}

export const writePaths: readonly WritePath[] = [
  viewPublish,
  rebuild,
  assets,
  exportWrite,
  configSet,
  redactionKey,
  importOf('import of a new session', [], ['one', 'two']),
  importOf('import of a session that has grown', ['one', 'two'], ['one', 'two', 'three']),
];
