import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Size, scales } from './fact.js';
import { generateWorld, goldText } from './generate.js';

/**
 * Writes the world of a seed: `sessions/<id>/events.jsonl` and `gold.jsonl` below a directory.
 *
 * node --import ./test/bench/retrieval/register.mjs test/bench/retrieval/gen.ts --seed dev-1 --size s --out DIR
 */
export function writeWorld(seed: string, size: Size, out: string): ReturnType<typeof generateWorld> {
  const world = generateWorld(seed, size, (session, log) => {
    const directory = join(out, 'sessions', session);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, 'events.jsonl'), log, { mode: 0o600 });
  });
  writeFileSync(join(out, 'gold.jsonl'), goldText(world.queries), { mode: 0o600 });
  return world;
}

function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? undefined : process.argv[at + 1];
}

function main(): void {
  const [seed, size, out] = [option('seed'), option('size'), option('out')];
  const known = Object.keys(scales);
  const asked = known.find((name): name is Size => name === size);
  if (seed === undefined || out === undefined || asked === undefined) {
    process.stderr.write(`usage: gen.ts --seed TEXT --size ${known.join('|')} --out DIR\n`);
    process.exitCode = 2;
    return;
  }
  const { queries, records, sha256 } = writeWorld(seed, asked, out);
  process.stdout.write(`${JSON.stringify({ seed, size, records, queries: queries.length, sha256 })}\n`);
}

if (process.argv[1] === fileURLToPath(new URL(`file://${join(dirname(process.argv[1] ?? ''), 'gen.ts')}`)))
  main();
