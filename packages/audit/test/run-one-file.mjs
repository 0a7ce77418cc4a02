// Runs the published one-file verifier over what the tests of this package hand it, and prints what it says as JSON:
// the tests are compiled to CommonJS, which loads no modules of this kind.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as one from '../verifier/turnlog-verify.mjs';

const vectors = process.argv[2] ?? '';
const read = (name) => JSON.parse(readFileSync(join(vectors, name), 'utf8'));
const bytesOf = (text) => new Uint8Array(Buffer.from(text));

async function rootsOf(lines, sizes, before = { size: 0, frontier: [] }, kept = []) {
  const bytes = bytesOf(lines.map((line) => `${line}\n`).join(''));
  const leaves = [...kept, ...(await one.leavesOf(bytes, one.readLog(bytes)))];
  return await Promise.all(sizes.map((size) => one.rootOf(before, leaves.slice(0, size - before.size))));
}

async function tree() {
  const { lines, sizes, inclusion, consistency, rfc6962 } = read('tree.json');
  const bytes = bytesOf(lines.join('\n'));
  const leaves = await one.leavesOf(bytes, one.readLog(bytes));
  const fromFrontier = sizes.map(async ({ size, frontier }) => {
    return [await one.rootOf({ size, frontier }), await one.rootOf({ size, frontier }, leaves.slice(size))];
  });
  const inputs = await Promise.all(rfc6962.inputs.map((input) => one.leafHash(one.unhex(input))));
  return {
    leaves: leaves.map(one.hex),
    roots: await rootsOf(
      lines,
      sizes.map(({ size }) => size),
    ),
    fromFrontier: await Promise.all(fromFrontier),
    inclusion: await Promise.all(inclusion.map((proof) => one.verifyInclusion(proof))),
    consistency: await Promise.all(consistency.map((proof) => one.verifyConsistency(proof))),
    reference: await Promise.all(
      rfc6962.roots.map(({ size }) => one.rootOf(one.emptyTree, inputs.slice(0, size))),
    ),
  };
}

/** What a session directory of these files is to the verifier. */
const sessionOf = (files) => ({
  paths: Object.keys(files),
  read: async (path) => files[path] ?? null,
  unpack: async (path) => files[path] ?? null,
});

async function evicted() {
  const { lines } = read('tree.json');
  return await Promise.all(
    read('evicted.json').cuts.map(async ({ cut, header, roots, leaves_file: file }) => {
      const rest = [header, ...lines.slice(cut)];
      const found = one.readLog(bytesOf(rest.join('\n'))).header;
      const leavesFile = {
        [`archive/leaves-${found.to_seq}.bin`]: new Uint8Array(Buffer.from(file, 'base64')),
      };
      const sizes = roots.map(({ size }) => size);
      const kept = await one.evictedLeaves(sessionOf(leavesFile), found);
      const later = sizes.filter((size) => size >= cut);
      return {
        neither: await one.evictedLeaves(sessionOf({}), found),
        fromFrontier: await rootsOf(rest, later, found.tree),
        fromLeaves: await rootsOf(rest, sizes, undefined, kept),
      };
    }),
  );
}

async function notes() {
  const { keys, notes } = read('notes.json');
  const known = keys.map(({ name, public: key }) => ({ name, key: one.unhex(key) }));
  const check = async (note, key) => {
    try {
      return (await one.signersOf(one.readNote(bytesOf(note)), [key])).length > 0 ? 'valid' : 'not-signed';
    } catch {
      return 'invalid';
    }
  };
  return {
    ids: await Promise.all(known.map(({ name, key }) => one.noteKeyId(name, key))),
    checks: await Promise.all(notes.map(({ note }) => Promise.all(known.map((key) => check(note, key))))),
  };
}

async function forged() {
  const { inclusion, consistency } = read('proofs-forged.json');
  return {
    inclusion: await Promise.all(inclusion.map(({ proof, trusted }) => one.verifyInclusion(proof, trusted))),
    consistency: await Promise.all(
      consistency.map(({ proof, trusted }) => one.verifyConsistency(proof, trusted)),
    ),
  };
}

async function redacted() {
  const { explained, unexplained, silent, salted } = read('redacted.json');
  const sizesOf = ({ roots }) => roots.map(({ size }) => size);
  const variants = [explained, unexplained, silent];
  return {
    roots: await Promise.all(variants.map((variant) => rootsOf(variant.lines, sizesOf(variant)))),
    salted: await Promise.all([salted.lines, salted.redacted].map((lines) => rootsOf(lines, [2]))),
  };
}

/** Records and damage of each file, as far as the product tells them too. */
async function logs() {
  return await Promise.all(
    process.argv.slice(4).map(async (path) => {
      const bytes = new Uint8Array(readFileSync(path));
      const log = one.readLog(bytes);
      return {
        leaves: (await one.leavesOf(bytes, log)).map(one.hex),
        records: log.records.map(({ offset, seq }) => [offset, seq]),
        damage: log.damage.map(({ kind, offset, end }) => [kind, offset, end - offset]),
      };
    }),
  );
}

const runs = { tree, evicted, redacted, notes, forged, logs };
process.stdout.write(JSON.stringify(await runs[process.argv[3] ?? '']()));
