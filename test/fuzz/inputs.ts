import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openOwnedLog } from '@turnlog/log';
import { createTestMachine, FakeClock, ModelFileSystem, type SeededRandom } from '@turnlog/testkit';
import { mutate, someLines } from './mutations.js';

const repository = join(__dirname, '..', '..');
const corpus = join(repository, '..', 'shared', 'corpus');

/** Longer files are cut: what is tried is their lines, not their length. */
const fileBytesMax = 1_048_576;

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

/** Files of other agents, where they are; they do not belong to this repository. */
export function corpusFiles(): readonly Buffer[] {
  if (!existsSync(corpus)) {
    process.stderr.write('fuzz: the files of other agents are not here; only own inputs are tried\n');
    return [];
  }
  return filesBelow(corpus)
    .filter((path) => path.endsWith('.jsonl') || path.endsWith('.json'))
    .map((path) => readFileSync(path).subarray(0, fileBytesMax));
}

/** The lines of the contract, and the odd ones that readers meet. */
export function wireLogs(): readonly Buffer[] {
  return ['golden.jsonl', 'odd.jsonl'].map((name) =>
    readFileSync(join(repository, 'test', 'golden', 'wire', name)),
  );
}

/** The files of a session as an engine leaves it: turns, keys, an open turn; cut once where that is asked for. */
export async function sessionFiles(kind: 'whole' | 'cut'): Promise<ReadonlyMap<string, Buffer>> {
  const clock = new FakeClock('skips');
  const fs = new ModelFileSystem({ clock });
  const cap = kind === 'cut' ? { cap: { maxEvents: 20, keepTurns: 1 } } : {};
  const log = await openOwnedLog(createTestMachine({ fs, clock }), '/s-1', 's-1', cap);
  for (let turn = 1; turn <= 10; turn += 1) {
    log.append({ raw: '{"type":"turn.started"}' }, { key: `k-${turn}` });
    const item = { id: `i${turn}`, type: 'agent_message', text: `é ${'x'.repeat(turn * 10)}` };
    log.append({ raw: JSON.stringify({ type: 'item.completed', item }) });
    if (turn < 10) log.append({ raw: '{"type":"turn.completed","usage":{"input_tokens":3}}' });
    await log.maintain();
  }
  await log.close();
  const files = new Map<string, Buffer>();
  for (const directory of ['', 'index/', 'archive/']) {
    if (fs.status(`/s-1/${directory}`.replace(/\/$/, '')) === null) continue;
    for (const { name, kind: what } of fs.list(`/s-1/${directory}`.replace(/\/$/, ''))) {
      if (what === 'file')
        files.set(`${directory}${name}`, Buffer.from(fs.contentOf(`/s-1/${directory}${name}`)));
    }
  }
  return files;
}

/** Changed pieces of one of `sources`. */
export function changedLog(sources: readonly Uint8Array[], random: SeededRandom): Buffer {
  const source = sources[random.below(sources.length)] ?? new Uint8Array(0);
  if (random.below(40) === 0) return Buffer.from(random.bytes(random.below(400)));
  return mutate(someLines(source, random, 12), random);
}
