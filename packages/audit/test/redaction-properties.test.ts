import { redactSession, unfinishedRedactions } from '@turnlog/audit';
import { checkArchives, type HistoryLeaf, historyLeaves } from '@turnlog/log';
import { parseSessionId } from '@turnlog/store';
import fc from 'fast-check';
import { AuditWorld } from './world.js';

const id = parseSessionId('s-1');

type Step =
  | { readonly kind: 'turns'; readonly count: number }
  | { readonly kind: 'cut'; readonly maxEvents: number; readonly archive: 'gzip' | 'drop' }
  | { readonly kind: 'redact'; readonly picks: readonly number[] };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('turns' as const), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({
    kind: fc.constant('cut' as const),
    maxEvents: fc.integer({ min: 3, max: 12 }),
    archive: fc.constantFrom('gzip' as const, 'gzip' as const, 'gzip' as const, 'drop' as const),
  }),
  fc.record({
    kind: fc.constant('redact' as const),
    picks: fc.array(fc.nat({ max: 1_000 }), { minLength: 1, maxLength: 3 }),
  }),
);

/** A session, and what each of its records was when it was first seen. */
class Followed {
  readonly world = new AuditWorld();
  readonly #lines = new Map<number, { readonly leaf: string; readonly bytes: Buffer }>();
  readonly #roots: { readonly size: number; readonly root: string }[] = [];
  readonly redacted = new Set<number>();

  async take(next: Step): Promise<void> {
    if (next.kind === 'turns') await this.world.turns(next.count);
    else if (next.kind === 'redact') await this.#redact(next.picks);
    else await this.#cut(next.maxEvents, next.archive);
    await this.#look();
  }

  /** A cap that cannot be reached is told, and is no failure here. */
  async #cut(maxEvents: number, archive: 'gzip' | 'drop'): Promise<void> {
    const log = await (await this.world.store()).open('s-1', { cap: { maxEvents, target: 1, archive } });
    await log.maintain();
    await log.close();
  }

  async #redact(picks: readonly number[]): Promise<void> {
    const there = (await this.#leaves()).filter(({ record }) => !record.type.startsWith('log.'));
    if (there.length === 0) return;
    const chosen = picks.map((pick) => there[pick % there.length] as HistoryLeaf);
    const seqs = [...new Set(chosen.map(({ record }) => record.seq))];
    const request = { seqs, reason: 'secret', actor: 'ann', guessable: 'accept' } as const;
    const { targets } = await redactSession(await this.world.store(), id, request);
    for (const { index } of targets) this.redacted.add(index);
  }

  async #leaves(): Promise<readonly HistoryLeaf[]> {
    const reader = await this.world.reader();
    try {
      return [...historyLeaves(this.world.fs, reader)];
    } finally {
      reader.close();
    }
  }

  async #look(): Promise<void> {
    for (const { index, record } of await this.#leaves()) {
      const known = this.#lines.get(index);
      const bytes = Buffer.from(record.bytes);
      expect(record.type === 'log.redacted').toBe(this.redacted.has(index));
      if (known === undefined) this.#lines.set(index, { leaf: record.leaf(), bytes });
      else if (this.redacted.has(index)) expect(record.leaf()).toBe(known.leaf);
      else expect(bytes.equals(known.bytes)).toBe(true);
    }
    const reader = await this.world.reader();
    const { tree } = reader;
    if (tree !== null) this.#roots.push(tree);
    for (const known of this.#roots) expect(reader.root(known.size)).toEqual(known);
    reader.close();
  }

  /** What is published is what a reading from the start gives. */
  async expectSound(): Promise<void> {
    const { world } = this;
    const store = await world.store();
    expect((await world.verify()).mismatches).toEqual([]);
    expect(await unfinishedRedactions(store, ['s-1'], { depth: 'whole-log' })).toEqual([]);
    const reader = await world.reader();
    const faults = checkArchives(world.fs, reader, 'whole').filter(({ kind }) => kind !== 'unnamed');
    reader.close();
    expect(faults).toEqual([]);
    const published = manifestOf(world);
    for (const name of ['manifest.json', 'index/turns.jsonl']) world.disk.removeFile(world.path(name));
    await (await store.open('s-1')).close();
    expect(manifestOf(world)).toEqual(published);
  }
}

function manifestOf(world: AuditWorld): object {
  const { turnlog, ...rest } = JSON.parse(world.bytes('manifest.json').toString('utf8'));
  return { ...rest, turnlog: { ...turnlog, generation: null } };
}

test('whatever is redacted and cut in whatever order: leaves, roots and all other lines stay, and metadata say what the log says', async () => {
  let redactions = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), async (steps) => {
      const followed = new Followed();
      await followed.take({ kind: 'turns', count: 3 });
      await followed.world.pack();
      for (const next of steps) await followed.take(next);
      await followed.expectSound();
      redactions += followed.redacted.size;
    }),
    { numRuns: 60 },
  );
  expect(redactions).toBeGreaterThan(60);
}, 120_000);
