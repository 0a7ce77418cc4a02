import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSqlite } from '@turnlog/mirror';
import { completeEnvironment, openStore } from '@turnlog/store';
import { makeTemporaryDirectory } from '@turnlog/testkit';
import { type Result, TestProgram, turn } from './support.js';

interface Desk {
  readonly root: string;
  run(...argv: string[]): Promise<Result>;
}

/** A command line on a store on a real disk, with two sessions. */
async function withDesk(work: (desk: Desk) => Promise<void>): Promise<void> {
  const directory = makeTemporaryDirectory();
  try {
    const root = join(directory.path, 'store');
    const environment = completeEnvironment();
    const store = await openStore({ root, environment, cwd: '/', env: {} });
    for (const id of ['s-1', 's-2']) {
      const session = await store.open(id);
      for (const event of turn) session.append({ raw: JSON.stringify(event) });
      await session.close();
    }
    const program = new TestProgram();
    await work({
      root,
      run: (...argv) => program.run(argv, { environment, env: { TURNLOG_ROOT: root } }),
    });
  } finally {
    directory.remove();
  }
}

const database = 'mirror.sqlite';

test('rebuild makes the mirror when asked, again when there is one, and --check names the first difference', async () => {
  await withDesk(async ({ root, run }) => {
    // Nobody asked for a mirror, so there is none and none is missed.
    const plain = JSON.parse((await run('rebuild', '--json')).stdout);
    expect(plain.mirror).toBeUndefined();
    const absent = await run('rebuild', '--check', '--only', 'mirror', '--json');
    expect([absent.exit, JSON.parse(absent.stdout).mirror.outcome]).toEqual([0, 'absent']);
    const made = await run('rebuild', '--only', 'mirror');
    expect([made.exit, made.stderr]).toEqual([0, expect.stringContaining('mirror: rebuilt')]);
    const equal = await run('rebuild', '--check', '--only', 'mirror', '--json');
    expect(equal.exit).toBe(0);
    const { sessions, mirror } = JSON.parse(equal.stdout);
    expect([sessions, mirror.outcome, mirror.difference]).toEqual([[], 'equal', null]);
    expect(mirror.digest).toBe(mirror.published_digest);
    const changed = (await loadSqlite()).open(join(root, database), 'read-write');
    changed.exec("UPDATE chunk SET role = 'system' WHERE session = 's-2' AND role = 'user'");
    changed.close();
    const found = await run('rebuild', '--check');
    expect(found.exit).toBe(1);
    expect(found.stdout).toMatch(/different {2}mirror at chunk \["s-2",\d+,0\] role\n/);
    expect(found.stdout).toContain('published: "system"');
    expect(found.stdout).toContain('rebuilt:   "user"');
    const lines = (await run('rebuild', '--check', '--only', 'mirror', '--jsonl')).stdout
      .trimEnd()
      .split('\n');
    expect(JSON.parse(lines.at(-1) ?? '').summary.mirror.outcome).toBe('different');
    expect((await run('rebuild')).exit).toBe(0);
    expect((await run('rebuild', '--check')).exit).toBe(0);
  });
});

test('doctor reports a mirror that is broken, and a write-ahead log above 64 MiB', async () => {
  await withDesk(async ({ root, run }) => {
    expect((await run('doctor')).exit).toBe(0);
    await run('rebuild', '--only', 'mirror');
    expect((await run('doctor')).exit).toBe(0);
    const wal = join(root, `${database}-wal`);
    writeFileSync(wal, '', { mode: 0o600 });
    truncateSync(wal, 67_108_865);
    const long = await run('doctor', '--json');
    expect([long.exit, JSON.parse(long.stdout).findings]).toMatchObject([
      1,
      [
        {
          kind: 'mirror-wal',
          session: null,
          repair: null,
          message: expect.stringContaining('67108865 bytes'),
        },
      ],
    ]);
    await run('rebuild', '--only', 'mirror');
    expect((await run('doctor')).exit).toBe(0);
    writeFileSync(join(root, database), 'no database');
    const broken = await run('doctor', '--json');
    expect([broken.exit, JSON.parse(broken.stdout).findings]).toMatchObject([
      1,
      [{ kind: 'mirror-broken', message: expect.stringContaining('turnlog rebuild --only mirror') }],
    ]);
    await run('rebuild', '--only', 'mirror');
    expect((await run('doctor')).exit).toBe(0);
  });
});

test('Q-23, B87 what came in any order is read back in the order of seqs, and records of one millisecond in file order: list, show, search, export, mirror', async () => {
  await withDesk(async ({ root, run }) => {
    const store = await openStore({ root, environment: completeEnvironment(), cwd: '/', env: {} });
    const tsMs = Date.UTC(2026, 9, 5, 8);
    const sessions = ['t-2', 't-1', 't-2', 't-10', 't-1', 't-2'];
    for (const [round, session] of sessions.entries()) {
      const log = await store.open(session);
      for (let at = 0; at < 5; at += 1) {
        const item = { id: `r${round}-${at}`, type: 'agent_message', text: 'equal words' };
        log.append({ type: 'item.completed', item }, { tsMs });
      }
      await log.close();
      // Taken in at once: rows stand in the order in which they came, which is that of no id.
      await run('rebuild', '--only', round === 0 ? 'mirror' : 'index');
      await run('search', 'equal', '--engine', 'fts5', '--limit', '0');
    }
    const inOrder = [
      ...Array.from({ length: 10 }, (_, at) => `t-1:${at + 1}`),
      ...Array.from({ length: 5 }, (_, at) => `t-10:${at + 1}`),
      ...Array.from({ length: 15 }, (_, at) => `t-2:${at + 1}`),
    ];
    const sqlite = (await loadSqlite()).open(join(root, database), 'read-only');
    const rows = sqlite
      .prepare<{ session: string; seq: number }>(
        "SELECT session, seq FROM chunk WHERE session LIKE 't-%' ORDER BY rowid",
      )
      .all()
      .map(({ session, seq }) => `${session}:${seq}`);
    sqlite.close();
    expect([...rows].sort()).toEqual([...inOrder].sort());
    expect(rows).not.toEqual(inOrder);
    for (const engine of ['packed', 'fts5', 'wink']) {
      const { stdout } = await run('search', 'equal words', '--engine', engine, '--limit', '100', '--json');
      const answer = JSON.parse(stdout);
      expect([engine, answer.engine, answer.hits.map(({ id }: { id: string }) => id)]).toEqual([
        engine,
        engine,
        inOrder,
      ]);
    }
    const seqs = Array.from({ length: 15 }, (_, at) => at + 1);
    const shown = JSON.parse((await run('show', 't-2', '--json')).stdout);
    expect(shown.records.map(({ seq }: { seq: number }) => seq)).toEqual(seqs);
    const tail = JSON.parse((await run('tail', 't-2', '-n', '15', '--json')).stdout);
    expect(tail.records.map(({ seq }: { seq: number }) => seq)).toEqual(seqs);
    const lines = (await run('export', 't-2', '--format', 'jsonl')).stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual(seqs);
    const listed = JSON.parse((await run('sessions', '--json')).stdout);
    const ids = listed.sessions
      .map(({ id }: { id: string }) => id)
      .filter((id: string) => id.startsWith('t-'));
    expect(ids).toEqual(['t-1', 't-10', 't-2']);
    expect((await run('rebuild', '--check')).exit).toBe(0);
  });
});
