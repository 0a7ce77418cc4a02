// What a job needs of this machine: the compiled packages, the peers, a directory of its own, and the figures of
// the operating system.

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createHost,
  createNodeFileSystem,
  createRandomIds,
  createSystemClock,
  createWriterLocks,
} from '../../packages/fs/dist/index.js';

export const here = dirname(fileURLToPath(import.meta.url));
export const root = dirname(dirname(here));
export const requirePeer = createRequire(join(here, 'package.json'));

export function peerVersion(name) {
  return JSON.parse(readFileSync(join(here, 'node_modules', name, 'package.json'), 'utf8')).version;
}

/** The environment of a log, over another file system where one is given. */
export function createEnvironment(fs = createNodeFileSystem()) {
  const clock = createSystemClock();
  const ids = createRandomIds();
  const host = createHost();
  const locks = createWriterLocks({ fs, ids, clock, host, program: 'turnlog-bench/0' });
  return { fs, clock, ids, host, locks, ownership: { uid: host.uid, onModeWarning: () => undefined } };
}

/** A new directory on the disk that TURNLOG_BENCH_DIR names, by default that for temp files. */
export function makeDirectory() {
  const parent = process.env.TURNLOG_BENCH_DIR ?? tmpdir();
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, 'turnlog-bench-'));
}

/** Runs `work` with a directory of its own, which is gone afterwards. */
export async function withDirectory(work) {
  const directory = makeDirectory();
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** `--name value` of the command line of a job. */
export function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? otherwise : process.argv[at + 1];
}
