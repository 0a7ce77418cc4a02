import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { historyLeaves } from '@turnlog/log';
import { AssetStore, completeEnvironment, openStore, parseSessionId, type Store } from '@turnlog/store';
import { makeTemporaryDirectory } from '@turnlog/testkit';
import { type Result, TestProgram } from './support.js';

/** Words that stand in one record each, and nowhere else. */
const canaries = [
  'zwitscherling',
  'trillervogel',
  'pfeifmeise',
  'gezeterfink',
  'schnatterente',
  'krächzrabe',
] as const;

interface Place {
  readonly root: string;
  readonly store: Store;
  run(...argv: readonly string[]): Promise<Result>;
}

async function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const directory = makeTemporaryDirectory();
  try {
    const root = join(directory.path, 'store');
    const environment = completeEnvironment();
    const store = await openStore({ root, environment, cwd: '/', env: {} });
    const program = new TestProgram();
    const run: Place['run'] = (...argv) =>
      program.run(argv, { environment, env: { TURNLOG_ROOT: root, USER: 'ann' } });
    await work({ root, store, run });
  } finally {
    directory.remove();
  }
}

/**
 * Files below a directory that hold a word, those that are compressed by what is in them. Dictionaries leave out the
 * beginning of a word that the one before has too, so the rest of it is looked for.
 */
function filesWith(root: string, word: string): readonly string[] {
  const rest = word.slice(4);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(root, name)).isFile())
    .filter((name) => {
      const bytes = readFileSync(join(root, name));
      const content = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
      return content.includes(rest);
    });
}

const message = (id: string, text: string): object => ({
  type: 'item.completed',
  item: { id, type: 'agent_message', text },
});

async function fill({ root, store }: Place): Promise<string> {
  store.ensureSessionsDirectory();
  const asset = new AssetStore(store.environment, root).put(Buffer.from(`a picture of a ${canaries[4]}`));
  const session = await store.open('s-1', { salt: 'each', cap: { maxEvents: 8, target: 1 } });
  const append = (event: object, key?: string): void => {
    session.append({ raw: JSON.stringify(event) }, key === undefined ? {} : { key });
  };
  append({
    type: 'run.started',
    program: 'p',
    version: '1',
    cwd: '/w',
    workspace: `/w/${canaries[3]}`,
    agent: 'primary',
  });
  for (let turn = 1; turn <= 4; turn += 1) {
    append({ type: 'turn.started' });
    append(
      {
        type: 'user.message',
        id: `u${turn}`,
        origin: 'prompt',
        content: [
          { type: 'text', text: turn === 1 ? `say ${canaries[0]}` : `say something ${turn}` },
          ...(turn === 3
            ? [{ type: 'asset', sha256: asset.sha256, bytes: asset.bytes, media_type: 'image/png' }]
            : []),
        ],
      },
      `ask-${turn}`,
    );
    append(
      message(
        `m${turn}`,
        turn === 2 ? `I said ${canaries[1]}` : turn === 4 ? `I said ${canaries[2]}, ${canaries[5]}` : 'fine',
      ),
    );
    append({ type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 2 } });
    await session.maintain();
  }
  await session.close();
  return asset.sha256;
}

/** Records that hold one of the texts, wherever they are. */
function seqsOf(store: Store, texts: readonly string[], id = 's-1'): readonly number[] {
  const reader = store.read(parseSessionId(id));
  try {
    return [...historyLeaves(store.environment.fs, reader)]
      .filter(({ record }) => record.type !== 'log.summary')
      .filter(({ record: { bytes } }) => texts.some((text) => Buffer.from(bytes).includes(text)))
      .map(({ record }) => record.seq);
  } finally {
    reader.close();
  }
}

/** Puts the hash of a line in its place, as a redaction would, and says nothing of it. */
function replaceSilently(path: string, line: string): void {
  const leaf = createHash('sha256')
    .update(Buffer.concat([Buffer.of(0), Buffer.from(line)]))
    .digest('hex');
  const { schema_version, seq, ts, event } = JSON.parse(line);
  const said = {
    type: 'log.redacted',
    leaf,
    original_type: event.type,
    length: Buffer.byteLength(line),
    redacted_at: ts,
  };
  const redacted = JSON.stringify({ schema_version, seq, ts, event: said });
  writeFileSync(path, readFileSync(path, 'utf8').replace(line, redacted), { mode: 0o600 });
}

test('A-13: after a redaction the old packs verify and list it, and its words are in no file of the store, the mirror, the index, the views and the search', async () => {
  await withPlace(async (place) => {
    const { root, store, run } = place;
    const packOutside = join(root, '..', 'pack-1');
    mkdirSync(packOutside);
    const sha256 = await fill(place);
    for (const argv of [
      ['rebuild', '--only', 'index,views,search,mirror'],
      ['search', 'something'],
      ['pack', 's-1', '--out', packOutside, '--no-record'],
      ['pack', 's-1', '--no-record'],
    ]) {
      const { exit, stderr } = await run(...argv);
      expect([argv, exit, stderr]).toEqual([argv, 0, expect.any(String)]);
    }
    for (const canary of canaries)
      expect([canary, filesWith(root, canary).length > 0]).toEqual([canary, true]);
    const places = [...canaries].flatMap((canary) => filesWith(root, canary)).join('\n');
    for (const kind of [
      /archive\/.*\.gz/,
      /events\.jsonl/,
      /derived\//,
      /^search\//m,
      /^mirror\.sqlite/m,
      /^assets\//m,
    ])
      expect([kind, kind.test(places)]).toEqual([kind, true]);
    const going = seqsOf(store, [...canaries.slice(0, 4), canaries[5], sha256]);
    expect(going.length).toBe(5);
    const done = await run('redact', 's-1', ...going.map(String), '--reason', 'privacy', '--yes', '--json');
    const document = JSON.parse(done.stdout);
    expect([done.exit, document.purged, document.failed]).toEqual([
      0,
      { views: 'rebuilt', search: 'purged', mirror: 'rebuilt' },
      [],
    ]);
    expect(document.sessions[0].assets).toEqual({ removed: [sha256], shared: [] });
    expect(canaries.flatMap((canary) => filesWith(root, canary))).toEqual([]);
    for (const place of [['s-1'], ['s-1', '--dir', packOutside]]) {
      const verified = await run('verify', ...place, '--json');
      const { verdict, tree, mismatches, missing } = JSON.parse(verified.stdout);
      expect([verified.exit, verdict, mismatches, missing]).toEqual([0, 'verified', [], []]);
      expect(tree.redacted.map(({ seq }: { seq: number }) => seq)).toEqual(
        expect.arrayContaining([...going]),
      );
    }
    // Somebody else takes a record out and says nothing.
    const log = join(root, 'sessions', 's-1', 'events.jsonl');
    const victim = readFileSync(log, 'utf8')
      .split('\n')
      .find((line) => line.includes('say something 4'));
    replaceSilently(log, victim ?? '');
    const found = await run('verify', 's-1', '--json');
    expect([found.exit, JSON.parse(found.stdout).mismatches]).toMatchObject([
      1,
      expect.arrayContaining([expect.objectContaining({ reason: 'redaction-unexplained' })]),
    ]);
  });
}, 60_000);

/** A transcript of Claude Code in which both sides say a canary. */
function transcript(): string {
  const base = {
    sessionId: '7d8f2f4c-6c43-4d6b-9a58-0a51a4a4d7f1',
    cwd: '/w',
    version: '2.1.0',
    isSidechain: false,
  };
  return [
    {
      ...base,
      type: 'user',
      uuid: 'u-1',
      parentUuid: null,
      timestamp: '2026-01-05T10:00:01.000Z',
      message: { role: 'user', content: `say ${canaries[0]}` },
    },
    {
      ...base,
      type: 'assistant',
      uuid: 'a-1',
      parentUuid: 'u-1',
      timestamp: '2026-01-05T10:00:02.000Z',
      message: {
        id: 'msg_1',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: `I say ${canaries[1]}` }],
        usage: { input_tokens: 1, output_tokens: 2 },
      },
    },
  ]
    .map((record) => `${JSON.stringify(record)}\n`)
    .join('');
}

test('A-13: of an imported session the raw copy goes too, for it holds every word, and the file it came from is named', async () => {
  await withPlace(async ({ root, store, run }) => {
    const source = join(root, '..', 'transcript.jsonl');
    writeFileSync(source, transcript());
    expect((await run('import', source)).exit).toBe(0);
    const [id = ''] = store.ids();
    const raw = readdirSync(join(root, 'assets'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /[0-9a-f]{64}$/.test(name),
    );
    const pieces = raw.map((name) => name.slice(-64));
    expect(filesWith(root, canaries[0])).toEqual(
      expect.arrayContaining([expect.stringMatching(/^assets\//)]),
    );
    const seqs = seqsOf(store, canaries, id).map(String);
    expect(seqs.length).toBeGreaterThan(1);
    const argv = ['redact', id, ...seqs, '--reason', 'privacy', '--accept-guessable', '--json'];
    const planned = JSON.parse((await run(...argv, '--dry-run')).stdout);
    expect(planned.sessions[0]).toMatchObject({
      assets: { removed: pieces, shared: [] },
      out_of_reach: [source],
    });
    expect(filesWith(root, canaries[0])).not.toEqual([]);
    const done = await run(...argv, '--yes');
    expect([done.exit, JSON.parse(done.stdout).sessions[0].assets]).toEqual([
      0,
      { removed: pieces, shared: [] },
    ]);
    expect([canaries[0], canaries[1]].flatMap((canary) => filesWith(root, canary))).toEqual([]);
    // The file is what it was: its records are known by their keys and do not come again.
    expect((await run('import', source)).exit).toBe(0);
    expect([canaries[0], canaries[1]].flatMap((canary) => filesWith(root, canary))).toEqual([]);
    expect((await run('verify', id)).exit).toBe(0);
  });
}, 60_000);
