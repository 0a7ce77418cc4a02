import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Outputs as they were. A golden is never changed: where an output has got new members, the new one goes into a
 * folder with the next number, and the old ones must be contained in it. `TURNLOG_NEW_GOLDENS=<number> pnpm jest
 * packages/cli/test/json-goldens.test.ts` writes what is missing or different into that folder; a person looks at it
 * and freezes it with `node test/tidy/pin.mjs goldens`.
 */
const folder = resolve(__dirname, '../../../test/golden/cli');

/** All goldens of a name, the oldest first. */
export function goldensOf(name: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort((left, right) => Number(left) - Number(right))
    .map((generation) => join(folder, generation, name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8'));
}

/** Writes `text` as a golden where somebody asked for that. */
export function offerGolden(name: string, text: string): void {
  const generation = process.env['TURNLOG_NEW_GOLDENS'] ?? '';
  if (!/^[1-9]\d*$/.test(generation) || process.env['CI'] !== undefined) return;
  mkdirSync(join(folder, generation), { recursive: true });
  writeFileSync(join(folder, generation, name), text, { flag: 'wx' });
}
