import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { isTurnlogError, sha256Hex } from '@turnlog/kernel';
import type { LogRecord } from '@turnlog/log';
import { SeededRandom } from '@turnlog/testkit';
import {
  detectSource,
  importSources,
  importStreamFile,
  importVtcode,
  openEventStream,
} from '../src/index.js';
import {
  corpusBytes,
  corpusPath,
  foldInto,
  hasCorpus,
  linesOf,
  plainOptions,
  sayWithoutCorpus,
} from './stream-lines.js';
import {
  bytesOf,
  type Desk,
  makeDesk,
  readerOf,
  sessionsDirectory,
  threadLine,
  treeOf,
  turnLines,
  withoutFirstLine,
} from './vtcode-files.js';

const path = '/foreign/run.jsonl';

function runLines(text: string): Uint8Array {
  return linesOf(
    'Reading prompt from stdin...',
    { type: 'thread.started', thread_id: 't-1' },
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text } },
    { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 2 } },
  );
}

const exec = { from: 'codex-exec' } as const;

/** What the events of a session are, whatever their place and time. */
function eventsOf(desk: Desk, sessionId: string): readonly (readonly [key: string | null, event: string])[] {
  const reader = readerOf(desk, sessionId);
  const events = [...reader.records()]
    .filter(({ type }) => type !== 'run.imported')
    .map((record) => [record.key, new TextDecoder().decode(record.eventBytes())] as const);
  reader.close();
  return events;
}

function recordsOf(desk: Desk, sessionId: string): readonly LogRecord[] {
  const reader = readerOf(desk, sessionId);
  const records = [...reader.records()];
  reader.close();
  return records;
}

interface RawPlace {
  readonly offset: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly asset?: string;
}

/** The parts of the raw copy that all passes of a session name. */
function rawPartsOf(desk: Desk, sessionId: string): readonly RawPlace[] {
  return recordsOf(desk, sessionId)
    .filter(({ type }) => type === 'run.imported')
    .flatMap((record) => (record.readEvent() as unknown as { readonly raw: readonly RawPlace[] }).raw);
}

/** The bytes of a part; none when only its digest was kept. */
function assetOf(desk: Desk, { asset }: RawPlace): Uint8Array {
  if (asset === undefined) return new Uint8Array(0);
  return gunzipSync(desk.fs.contentOf(`/store/assets/${asset.slice(0, 2)}/${asset}`));
}

test('a saved run becomes a session without times; the same file again changes nothing', async () => {
  const desk = makeDesk();
  const bytes = runLines('a');
  desk.fs.plantFile(path, bytes);
  const report = await importStreamFile(desk.target, path, exec);
  expect(report).toMatchObject({
    state: 'new',
    sessionId: 'codex-t-1',
    records: 4,
    damageCount: 1,
    pendingBytes: 0,
  });
  const records = recordsOf(desk, 'codex-t-1');
  expect(records.map(({ type }) => type)).toEqual([
    'thread.started',
    'run.started',
    'run.source',
    'turn.started',
    'item.completed',
    'turn.completed',
    'run.imported',
  ]);
  expect(records.every(({ ts }) => ts === null)).toBe(true);
  expect(records.at(-1)?.readEvent()).toMatchObject({
    file: 'f1',
    to: bytes.length,
    prefix_sha256: sha256Hex(bytes),
    final: false,
  });
  const before = treeOf(desk.fs, sessionsDirectory);
  expect(await importStreamFile(desk.target, path, exec)).toMatchObject({
    state: 'unchanged',
    sessionId: 'codex-t-1',
  });
  expect(treeOf(desk.fs, sessionsDirectory)).toEqual(before);
});

test('a second run of the thread is appended to its session, under its own item ids', async () => {
  const desk = makeDesk();
  desk.fs.plantFile(path, runLines('a'));
  desk.fs.plantFile('/foreign/resume.jsonl', runLines('b'));
  await importStreamFile(desk.target, path, exec);
  const report = await importStreamFile(desk.target, '/foreign/resume.jsonl', exec);
  expect(report).toMatchObject({ state: 'grown', sessionId: 'codex-t-1' });
  const text = JSON.stringify(eventsOf(desk, 'codex-t-1'));
  expect(text).toContain('r2.item_0');
  expect(text).toContain('\\"file\\":\\"f2\\"');
  for (const each of [path, '/foreign/resume.jsonl']) {
    expect((await importStreamFile(desk.target, each, exec)).state).toBe('unchanged');
  }
});

test('the same bytes under another name are known; another run under the same name is a further run', async () => {
  const desk = makeDesk();
  desk.fs.plantFile(path, runLines('a'));
  desk.fs.plantFile('/foreign/copy.jsonl', runLines('a'));
  await importStreamFile(desk.target, path, exec);
  const before = treeOf(desk.fs, sessionsDirectory);
  expect((await importStreamFile(desk.target, '/foreign/copy.jsonl', exec)).state).toBe('unchanged');
  expect(treeOf(desk.fs, sessionsDirectory)).toEqual(before);
  desk.fs.plantFile(path, runLines('b'));
  expect((await importStreamFile(desk.target, path, exec)).state).toBe('grown');
  expect(JSON.stringify(eventsOf(desk, 'codex-t-1'))).toContain('r2.item_0');
});

test('what is no stream, a link, or nothing yet leaves no session', async () => {
  const desk = makeDesk();
  desk.fs.plantFile(path, bytesOf('{"hello":1}\n'));
  desk.fs.plantFile('/foreign/empty.jsonl', bytesOf(''));
  desk.fs.plantFile('/foreign/begun.jsonl', bytesOf('{"type":"thread.sta'));
  desk.fs.plantLink('/foreign/link.jsonl', path);
  await expect(importStreamFile(desk.target, path, exec)).rejects.toMatchObject({
    code: 'TURNLOG_UNKNOWN_SOURCE',
  });
  await expect(importStreamFile(desk.target, '/foreign/none', exec)).rejects.toMatchObject({
    code: 'TURNLOG_NOT_FOUND',
  });
  await expect(importStreamFile(desk.target, '/foreign/link.jsonl', exec)).rejects.toMatchObject({
    code: 'TURNLOG_UNSAFE_PATH',
  });
  for (const name of ['empty', 'begun']) {
    expect(await importStreamFile(desk.target, `/foreign/${name}.jsonl`, exec)).toMatchObject({
      state: 'empty',
      sessionId: null,
    });
  }
  expect(desk.fs.list(sessionsDirectory)).toEqual([]);
  expect(desk.fs.openHandleCount).toBe(0);
});

test('sub-agents of a saved stream become sessions of their own', async () => {
  const desk = makeDesk();
  const golden = join(
    __dirname,
    '..',
    '..',
    '..',
    'test',
    'golden',
    'importers',
    'claude-stream',
    'sub-agent',
  );
  desk.fs.plantFile(path, readFileSync(join(golden, 'input.jsonl')));
  const options = { from: 'claude-stream', final: true } as const;
  const report = await importStreamFile(desk.target, path, options);
  expect(report.childSessionIds).toEqual([`${report.sessionId}.toolu_task`]);
  expect(desk.fs.list(sessionsDirectory).map(({ name }) => name)).toEqual([
    report.sessionId,
    `${report.sessionId}.toolu_task`,
  ]);
  const before = treeOf(desk.fs, sessionsDirectory);
  expect((await importStreamFile(desk.target, path, options)).state).toBe('unchanged');
  expect(treeOf(desk.fs, sessionsDirectory)).toEqual(before);
});

test('the raw copy of a stream is the source, pass by pass; by reference it is digests alone', async () => {
  const bytes = runLines('a');
  const cut = bytes.length - 40;
  for (const raw of ['asset', 'reference'] as const) {
    const desk = makeDesk();
    for (const part of [bytes.subarray(0, cut), bytes]) {
      desk.fs.plantFile(path, part);
      await importStreamFile(desk.target, path, { ...exec, raw });
    }
    const parts = rawPartsOf(desk, 'codex-t-1');
    const places = parts.map(({ offset, bytes: length, sha256 }) => [
      sha256Hex(bytes.subarray(offset, offset + length)) === sha256,
      offset,
    ]);
    const second = bytes.subarray(0, cut).lastIndexOf(0x0a) + 1;
    expect(places).toEqual([
      [true, 0],
      [true, second],
    ]);
    const joined = Buffer.concat(parts.map((part) => assetOf(desk, part)));
    expect(Buffer.from(joined)).toEqual(raw === 'asset' ? Buffer.from(bytes) : Buffer.alloc(0));
  }
});

test('a stream that does not say where it ran ran in the workspace that is given', async () => {
  const desk = makeDesk();
  desk.fs.plantFile(path, runLines('a'));
  await importSources(desk.target, { sources: [{ path }], workspace: '/w' });
  const [, started] = recordsOf(desk, 'codex-t-1');
  expect(started?.readEvent()).toMatchObject({ type: 'run.started', cwd: '/w', workspace: '/w' });
});

/** Imports a beginning and then the whole, and says what both reports held. */
async function cutThenWhole(bytes: Uint8Array, cut: number): Promise<void> {
  const whole = makeDesk();
  whole.fs.plantFile(path, bytes);
  const once = await importStreamFile(whole.target, path, exec);
  const desk = makeDesk();
  desk.fs.plantFile(path, bytes.subarray(0, cut));
  const first = await importStreamFile(desk.target, path, exec);
  expect(first.ledger.bytes + first.pendingBytes).toBe(cut);
  expect(first.refused.filter(({ reason }) => reason === 'torn-tail')).toEqual([]);
  desk.fs.plantFile(path, bytes);
  const second = await importStreamFile(desk.target, path, exec);
  expect([second.ledger, second.pendingBytes]).toEqual([once.ledger, 0]);
  expect(eventsOf(desk, 'codex-t-1')).toEqual(eventsOf(whole, 'codex-t-1'));
  const closed = makeDesk();
  closed.fs.plantFile(path, bytes.subarray(0, cut));
  const final = await importStreamFile(closed.target, path, { ...exec, final: true });
  expect([final.ledger.bytes, final.pendingBytes]).toEqual([cut, 0]);
  const torn = final.refused.find(({ reason }) => reason === 'torn-tail');
  // A blank at the very end belongs to no record.
  expect([0, 1]).toContain(first.pendingBytes - (torn?.length ?? 0));
}

test('a file cut anywhere waits for its rest; one that is final has a torn tail', async () => {
  const bytes = Buffer.concat([runLines('a').subarray(29), runLines('b')]);
  for (let cut = bytes.length; cut > 0; cut -= 11) await cutThenWhole(bytes, cut);
});

sayWithoutCorpus('import-stream-file');

if (hasCorpus) {
  const streaming = corpusBytes('codex-exec', 'agent-wrappers', 'streaming.jsonl');
  const resume = corpusBytes('codex-exec', 'agent-wrappers', 'resume.jsonl');
  const vtcodeName = 'harness-session-vtcode-20260312T113304Z_360153-80579.jsonl';
  const vtcode = corpusBytes('vtcode', vtcodeName);

  const alone: readonly (readonly [name: string, bytes: Uint8Array, usage: readonly number[]])[] = [
    ['G-3 codex-exec streaming', streaming, [7499, 0, 0, 111]],
    ['G-3 codex-exec resume', resume, [7569, 7040, 0, 109]],
  ];

  interface Counted {
    readonly usage: Record<string, number>;
    readonly item: { readonly id: string; readonly type: string };
  }

  test.each(alone)('%s: one turn, no prompt, no call, its usage', async (_name, bytes, usage) => {
    const desk = makeDesk();
    desk.fs.plantFile(path, bytes);
    const report = await importStreamFile(desk.target, path, { ...exec, final: true });
    const records = recordsOf(desk, String(report.sessionId));
    const events = records.map((record) => record.readEvent() as unknown as Counted);
    const of = (type: string): readonly Counted[] => events.filter((_, at) => records[at]?.type === type);
    const reader = readerOf(desk, String(report.sessionId));
    expect([...reader.turns()].map(({ status }) => status)).toEqual(['completed']);
    reader.close();
    expect(of('user.message')).toEqual([]);
    expect(of('item.started')).toEqual([]);
    expect(of('item.completed').map(({ item }) => item.type)).toEqual(['reasoning', 'agent_message']);
    expect(of('turn.completed').map((turn) => Object.values(turn.usage))).toEqual([usage]);
    expect(report.unansweredCount).toBe(0);
  });

  test.each([['G-3 codex-exec streaming and resume']])('%s are one session with 4 item ids', async () => {
    const desk = makeDesk();
    for (const [name, bytes] of [
      ['a', streaming],
      ['b', resume],
    ] as const) {
      desk.fs.plantFile(`/foreign/${name}.jsonl`, bytes);
      await importStreamFile(desk.target, `/foreign/${name}.jsonl`, { ...exec, final: true });
    }
    const names = desk.fs.list(sessionsDirectory).map(({ name }) => name);
    expect(names).toEqual(['codex-019ab7c5-3c6c-7dd3-8e6e-cec2a5a49a62']);
    const records = recordsOf(desk, String(names[0]));
    const ids = records
      .filter(({ type }) => type === 'item.completed')
      .map((record) => (record.readEvent() as unknown as Counted).item.id);
    expect(ids).toEqual(['item_0', 'item_1', 'r2.item_0', 'r2.item_1']);
    const reader = readerOf(desk, String(names[0]));
    expect([...reader.turns()].map(({ turn, status }) => `${turn} ${status}`)).toEqual([
      '1 completed',
      '2 completed',
    ]);
    reader.close();
  });

  const accounts: readonly (readonly [name: string, bytes: Uint8Array])[] = [
    ['G-4 codex-exec streaming', streaming],
    ['G-4 codex-exec resume', resume],
    ['G-4 vtcode', vtcode],
  ];

  test.each(accounts)('%s: nothing refused, every byte in the account', async (name, bytes) => {
    const desk = makeDesk();
    desk.fs.plantFile(path, bytes);
    const isVtcode = name.endsWith('vtcode');
    const report = isVtcode
      ? await importVtcode(desk.target, path)
      : await importStreamFile(desk.target, path, { ...exec, final: true });
    const { mapped, kept, refused } = report.ledger;
    expect([report.ledger.bytes, mapped + kept + refused, refused, report.refused]).toEqual([
      bytes.length,
      bytes.length,
      0,
      [],
    ]);
    expect(report.source.sha256).toBe(sha256Hex(bytes));
    const sessionId = String(report.sessionId);
    const copy = isVtcode
      ? withoutFirstLine(desk, sessionId)
      : Buffer.concat(rawPartsOf(desk, sessionId).map((part) => assetOf(desk, part)));
    expect(sha256Hex(copy)).toBe(sha256Hex(bytes));
  });

  test.each([['G-4 shapes and cases']])(
    '%s: no format of these throws anything but a refusal of the source',
    async (_name) => {
      const files = [...filesBelow(corpusPath('shapes')), ...filesBelow(corpusPath('..', 'cases'))];
      expect(files.length).toBeGreaterThan(100);
      const kinds = new Map<string, number>();
      for (const file of files) {
        const bytes = readFileSync(file);
        const kind = detectSource(bytes.subarray(0, 65_536), file.slice(file.lastIndexOf('/') + 1));
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        const desk = makeDesk();
        desk.fs.plantFile(path, bytes);
        for (const attempt of [
          () => importVtcode(desk.target, path),
          () => importStreamFile(desk.target, path, { ...exec, final: true }),
          () => importStreamFile(desk.target, path, { from: 'claude-stream', final: true }),
          async () => foldInto(openEventStream(plainOptions), bytes),
        ])
          await onlyRefuses(attempt);
        for (const { name } of desk.fs.list(sessionsDirectory)) expect(name).not.toMatch(/^\./);
      }
      expect(kinds.get('vtcode') ?? 0).toBeGreaterThan(0);
    },
  );

  test.each([
    ['G-7 codex-exec streaming', streaming],
    ['G-7 codex-exec resume', resume],
  ])('%s cut at random bytes is pending, then whole; final, torn', async (_name, bytes) => {
    const random = new SeededRandom(3);
    const lines = Buffer.from(
      new TextDecoder().decode(bytes).replaceAll('019ab7c5-3c6c-7dd3-8e6e-cec2a5a49a62', 't-1'),
    );
    for (let round = 0; round < 40; round += 1) await cutThenWhole(lines, 1 + random.below(lines.length));
    const [first, ...others] = [1, 7, 65_536].map(
      (piece) => foldInto(openEventStream(plainOptions), bytes, piece).events,
    );
    for (const other of others) expect(other).toEqual(first);
  });

  test.each([['G-7 vtcode']])(
    '%s cut at random bytes has a torn tail, then a grown session holds all; the same from small pieces',
    async () => {
      const random = new SeededRandom(5);
      for (let round = 0; round < 8; round += 1) {
        const desk = makeDesk();
        const cut = 200 + random.below(vtcode.length - 200);
        desk.fs.plantFile(path, vtcode.subarray(0, cut));
        const first = await importVtcode(desk.target, path);
        const torn = first.refused.find(({ reason }) => reason === 'torn-tail')?.length ?? 0;
        expect(withoutFirstLine(desk, String(first.sessionId))).toHaveLength(cut - torn);
        desk.fs.plantFile(path, vtcode);
        const second = await importVtcode(desk.target, path);
        expect(second).toMatchObject({ state: cut === vtcode.length ? 'unchanged' : 'grown', records: 288 });
        expect(sha256Hex(withoutFirstLine(desk, String(second.sessionId)))).toBe(sha256Hex(vtcode));
      }
      const whole = makeDesk();
      whole.fs.plantFile(path, vtcode);
      await importVtcode(whole.target, path);
      for (const piece of [7, 65_536]) {
        const desk = makeDesk();
        desk.fs.plantFile(path, vtcode);
        await importVtcode(
          { ...desk.target, environment: { ...desk.machine, fs: inPieces(desk, piece) } },
          path,
        );
        expect(treeOf(desk.fs, sessionsDirectory)).toEqual(treeOf(whole.fs, sessionsDirectory));
      }
    },
  );
}

test('a log of VT Code read a byte at a time is imported the same', async () => {
  const bytes = bytesOf(threadLine, turnLines('\u2028 one'), '{"cut');
  const trees = [];
  for (const piece of [1, 7, 65_536]) {
    const desk = makeDesk();
    desk.fs.plantFile(path, bytes);
    await importVtcode({ ...desk.target, environment: { ...desk.machine, fs: inPieces(desk, piece) } }, path);
    trees.push(treeOf(desk.fs, sessionsDirectory));
  }
  expect(trees[1]).toEqual(trees[0]);
  expect(trees[2]).toEqual(trees[0]);
});

/** The same disk, whose reads of the source give at most so many bytes. */
function inPieces(desk: Desk, pieceBytes: number): Desk['fs'] {
  return new Proxy(desk.fs, {
    get: (fs, name) => {
      const member: unknown = Reflect.get(fs, name);
      if (typeof member !== 'function') return member;
      if (name !== 'open') return member.bind(fs);
      return (target: string, mode: 'read' | 'append' | 'create') => {
        const file = fs.open(target, mode);
        if (target !== path) return file;
        const read = file.read.bind(file);
        file.read = (into, offset) => read(into.subarray(0, pieceBytes), offset);
        return file;
      };
    },
  });
}

async function onlyRefuses(attempt: () => Promise<unknown>): Promise<void> {
  try {
    await attempt();
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_UNKNOWN_SOURCE')) throw error;
  }
}

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory).flatMap((name) => {
    const found = join(directory, name);
    return statSync(found).isDirectory() ? filesBelow(found) : [found];
  });
}
