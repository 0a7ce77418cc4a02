// The program: directories and proofs from the command line, a line of JSON for each.

import { constants, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { decode, fail } from './bytes.mjs';
import { verifyProof, verifySession } from './compare.mjs';
import { keysIn } from './pack.mjs';

const readFile = (path) => new Uint8Array(readFileSync(path, { flag: constants.O_RDONLY | constants.O_NOFOLLOW }));

// More than this no runtime holds in one piece.
const maxOutputLength = 2 ** 31 - 1;

/** The files of a directory. Of links and special files there are the names, which are never followed. */
export function openSession(root) {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const pathOf = ({ parentPath, path = parentPath, name }) => relative(root, join(path, name)).replaceAll(sep, '/');
  const files = new Set(entries.filter((entry) => entry.isFile()).map(pathOf));
  const read = async (path) => (files.has(path) ? readFile(join(root, path)) : null);
  const unpack = async (path) =>
    files.has(path) && path.endsWith('.gz') ? gunzipSync(await read(path), { maxOutputLength }) : null;
  return { paths: entries.map(pathOf), read, unpack };
}

async function main() {
  const [options, exits] = [{ trust: { type: 'string' }, record: { type: 'string' } }, new Set()];
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [keys, line] = [values.trust ? keysIn(decode(readFile(values.trust))) : [], values.record && readFile(values.record)];
  for (const name of positionals) {
    const told = statSync(name).isFile() ? await verifyProof(readFile(name), line) : await verifySession(openSession(name), keys);
    process.stdout.write(`${JSON.stringify({ ...told, name })}\n`);
    exits.add(told.exit);
  }
  return [3, 4, 1, 0].find((exit) => exits.has(exit)) ?? fail('give a directory or a proof');
}

const isProgram = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isProgram) process.exitCode = await main().catch(({ message }) => process.stderr.write(`${message}\n`) && 2);
