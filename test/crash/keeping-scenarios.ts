import {
  carryOutCleanUp,
  deleteSession,
  Ledger,
  listPins,
  pinSession,
  planCleanUp,
  type RetentionOptions,
  readTrash,
  restoreSession,
  retentionPolicy,
  unpinSession,
} from '@turnlog/store';
import type { Snapshot } from './disk-tools.js';
import {
  type KeepingScenario,
  type KeepingWorld,
  ledgerOf,
  namesIn,
  root,
  wholeIn,
} from './keeping-world.js';

const dayMs = 86_400_000;

async function fill({ store }: KeepingWorld, id: string): Promise<void> {
  const session = await store.open(id);
  session.append({ type: 'turn.started' });
  session.append({ raw: '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}' });
  await session.close();
}

async function cleanUp(
  { store }: KeepingWorld,
  options: RetentionOptions,
  more: { readonly purge?: 'everything' } = {},
): Promise<void> {
  const plan = planCleanUp(store, { policy: retentionPolicy(options), ...more });
  const { failure } = await carryOutCleanUp(store, plan);
  if (failure !== null) throw failure.error;
}

/** The only name in the trash that belongs to `id`. */
function nameInTrash({ store }: KeepingWorld, id: string): string | null {
  const facts = new Ledger(store.environment, root).facts();
  const { entries } = readTrash(store.environment, root, facts);
  return entries.find(({ sessionId }) => sessionId === id)?.name ?? null;
}

/** How many records of a type the ledger has for `id`, if it is not as many as there are to be. */
function countProblems(world: KeepingWorld, type: string, id: string, wanted: number): readonly string[] {
  const found = ledgerOf(world).filter((event) => event['type'] === type && event['session_id'] === id);
  return found.length === wanted ? [] : [`T-83 ${found.length} times ${type} of ${id}, not ${wanted}`];
}

const whole =
  (...ids: readonly string[]) =>
  (world: KeepingWorld, before: Snapshot): readonly string[] =>
    ids.flatMap((id) => wholeIn(world, id, before).problems);

/** Where `id` lies, if not in `parent`. */
function placeProblems(
  world: KeepingWorld,
  id: string,
  parent: 'sessions' | 'trash',
  before: Snapshot,
): readonly string[] {
  const { place, problems } = wholeIn(world, id, before);
  return place?.startsWith(`${root}/${parent}/`) === true
    ? problems
    : [...problems, `${id} is not in ${parent}`];
}

async function restoreIfThere(world: KeepingWorld): Promise<void> {
  const name = nameInTrash(world, 's-1');
  if (name !== null) await restoreSession(world.store, name);
}

export const keepingScenarios: readonly KeepingScenario[] = [
  {
    name: 'retention and trash',
    laterMs: 40 * dayMs,
    prepare: async (world) => {
      await fill(world, 's-1');
      await fill(world, 's-2');
      await pinSession(world.store, 's-2', 'stays');
    },
    run: (world) => cleanUp(world, { maxAgeDays: 30 }),
    crashed: whole('s-1', 's-2'),
    finished: (world, before) => [
      ...placeProblems(world, 's-1', 'trash', before),
      ...placeProblems(world, 's-2', 'sessions', before),
      ...countProblems(world, 'log.removed', 's-1', 1),
      ...countProblems(world, 'log.removed', 's-2', 0),
    ],
  },
  {
    name: 'the first removal of a store, by hand',
    prepare: (world) => fill(world, 's-1'),
    run: async (world) => {
      if (world.store.has('s-1')) await deleteSession(world.store, 's-1');
    },
    crashed: whole('s-1'),
    finished: (world, before) => [
      ...placeProblems(world, 's-1', 'trash', before),
      ...countProblems(world, 'log.removed', 's-1', 1),
    ],
  },
  {
    name: 'pin',
    prepare: (world) => fill(world, 's-1'),
    run: async ({ store }) => {
      await pinSession(store, 's-1', 'r');
    },
    crashed: whole('s-1'),
    // The file is derived from the ledger, and need not last.
    promised: (world) => [
      ...countProblems(world, 'log.pinned', 's-1', 1),
      ...(listPins(world.store).get('s-1')?.reason === 'r' ? [] : ['s-1 is not pinned']),
    ],
    finished: (world) => [
      ...countProblems(world, 'log.pinned', 's-1', 1),
      ...(listPins(world.store).get('s-1')?.reason === 'r' ? [] : ['s-1 is not pinned']),
      ...(namesIn(world.fs, `${root}/sessions/s-1`).includes('pin.json') ? [] : ['there is no pin.json']),
    ],
  },
  {
    name: 'unpin',
    prepare: async (world) => {
      await fill(world, 's-1');
      await pinSession(world.store, 's-1', 'r');
    },
    run: async ({ store }) => {
      await unpinSession(store, 's-1');
    },
    finished: (world) => [
      ...countProblems(world, 'log.unpinned', 's-1', 1),
      ...(listPins(world.store).size === 0 ? [] : ['s-1 is pinned']),
    ],
  },
  {
    name: 'restore',
    prepare: async (world) => {
      await fill(world, 's-1');
      await deleteSession(world.store, 's-1');
    },
    run: restoreIfThere,
    // A clean-up finishes what the ledger has; what it has not is asked for again.
    recover: async (world) => {
      await cleanUp(world, {});
      await restoreIfThere(world);
    },
    crashed: whole('s-1'),
    finished: (world, before) => [
      ...placeProblems(world, 's-1', 'sessions', before),
      ...countProblems(world, 'log.removed', 's-1', 1),
      ...countProblems(world, 'log.restored', 's-1', 1),
    ],
  },
  {
    name: 'purge',
    laterMs: 31 * dayMs,
    prepare: async (world) => {
      await fill(world, 's-1');
      await deleteSession(world.store, 's-1');
    },
    run: (world) => cleanUp(world, {}),
    // Whatever has a name that can be restored is whole.
    crashed: (world, before) =>
      nameInTrash(world, 's-1') === null ? [] : wholeIn(world, 's-1', before).problems,
    finished: (world) => [
      ...countProblems(world, 'log.removed', 's-1', 1),
      ...countProblems(world, 'log.purged', 's-1', 1),
      ...namesIn(world.fs, `${root}/trash`).map((name) => `${name} is left in the trash`),
      ...namesIn(world.fs, `${root}/sessions`).map((name) => `${name} is there`),
    ],
  },
  {
    name: 'purge of everything, finished by a run that is not asked for it',
    laterMs: dayMs,
    prepare: async (world) => {
      await fill(world, 's-1');
      await deleteSession(world.store, 's-1');
    },
    run: (world) => cleanUp(world, {}, { purge: 'everything' }),
    recover: async (world) => {
      await cleanUp(world, {});
      const isTold = ledgerOf(world).some((event) => event['type'] === 'log.purged');
      if (!isTold) await cleanUp(world, {}, { purge: 'everything' });
    },
    crashed: (world, before) =>
      nameInTrash(world, 's-1') === null ? [] : wholeIn(world, 's-1', before).problems,
    finished: (world) => [
      ...countProblems(world, 'log.purged', 's-1', 1),
      ...namesIn(world.fs, `${root}/trash`).map((name) => `${name} is left in the trash`),
    ],
  },
  {
    name: 'moved into the trash by hand',
    prepare: async (world) => {
      await fill(world, 's-1');
      world.fs.makeDirectory(`${root}/trash`);
      world.fs.rename(`${root}/sessions/s-1`, `${root}/trash/s-1.20261005T080000Z.0123abcd`);
    },
    run: (world) => cleanUp(world, {}),
    crashed: whole('s-1'),
    finished: (world, before) => [
      ...placeProblems(world, 's-1', 'trash', before),
      ...countProblems(world, 'log.removed', 's-1', 1),
    ],
  },
];
