// The pack, and who signed it.

import {
  bytesMax,
  concat,
  decode,
  digest,
  encode,
  fail,
  hasMark,
  hex,
  isObject,
  isSigned,
  parsed,
  sha256,
  unbase64,
} from './bytes.mjs';
import { faultIn } from './shapes.mjs';
import { isHead, ones, rootOf } from './tree.mjs';

export const packPath = 'derived/audit-pack.json';

/** The pack; whatever is wrong with it is found before a file that it names is opened. */
export async function readPack(bytes) {
  const pack = bytes.length <= bytesMax ? parsed(hasMark(bytes) ? bytes.subarray(3) : bytes) : undefined;
  if (!isObject(pack) || pack.schema_version !== 1) fail('it is no JSON of version 1');
  const fault = faultIn('pack', pack) ?? (pack.tree === undefined ? undefined : faultIn('own', pack));
  if (fault !== undefined) fail(`${fault} is missing or not as it has to be`);
  if (new Set(pack.entries.map(({ path }) => path)).size < pack.entries.length) fail('a path is there twice');
  const isWhole = pack.tree === undefined || (await isTree(pack.tree));
  return isWhole ? pack : fail('tree does not fit its size and root');
}

async function isTree({ hash, size, root, frontier, evicted, marks = null }) {
  if (hash !== 'rfc6962-sha256' || frontier.length !== ones(size) || evicted > size) return false;
  const length = Math.ceil((Math.ceil((size - evicted) / marks?.each) * 4) / 3) * 4;
  const isMarked = marks === null || (Math.log2(marks.each) % 1 === 0 && marks.prefixes?.length === length);
  return isMarked && (await rootOf({ size, frontier })) === root;
}

/** The key that made a signature file of `ssh-keygen -Y sign`. With Ed25519 everything in it has its place. */
async function sshSigner(file, message) {
  const blob = unbase64(decode(file).replace(/-----[A-Z ]+-----|\s/g, ''));
  const [key, hash, signature] = [blob.subarray(33, 65), blob.subarray(92, 98), blob.subarray(-64)];
  const strings = (...parts) => concat(...parts.map((part) => [0, 0, 0, part.length, ...part]));
  const [magic, kind, name] = [encode('SSHSIG'), encode('ssh-ed25519'), decode(hash)];
  const head = strings(encode('turnlog-pack@v1'), [], hash);
  const whole = concat(magic, [0, 0, 0, 1], strings(strings(kind, key)), head, strings(strings(kind, signature)));
  if (!/^sha(256|512)$/.test(name) || hex(whole) !== hex(blob)) fail('the signature is of another kind');
  const signed = concat(magic, head, strings(await digest(name.replace('sha', 'SHA-'), message)));
  return (await isSigned(key, signed, signature)) ? key : fail('the signature is not over this pack');
}

export const noteKeyId = async (name, key) => (await sha256(concat(encode(`${name}\n`), [1], key))).slice(0, 8);

/** A checkpoint of C2SP: origin, size, root, and behind a blank line who signed them. */
export function readNote(file) {
  const form = /^(\S[^\n]*\n(0|[1-9]\d{0,15})\n([\w+/]{43}=)\n(?:[^\n]+\n)*)\n((?:— [^\s+]+ [\w+/]+=*\n)+)$/;
  const [, body, size, root, signed] = form.exec(decode(file)) ?? fail('the checkpoint is none');
  const lines = Array.from(signed.matchAll(/— (\S+) (\S+)/g), ([, name, blob]) => ({ name, blob: unbase64(blob) }));
  return { body: encode(body), size: Number(size), root: hex(unbase64(root)), lines };
}

/** Those of the keys that have signed a note; a line of one of them that is wrong decides. */
export async function signersOf({ body, lines }, keys) {
  const signers = [];
  for (const [known, { name, blob }] of keys.flatMap((key) => lines.map((line) => [key, line]))) {
    if ((known.name ?? name) !== name || (await noteKeyId(name, known.key)) !== hex(blob.subarray(0, 4))) continue;
    const isRight = await isSigned(known.key, body, blob.subarray(4));
    signers.push(isRight ? known : fail('a signature of the checkpoint is wrong'));
  }
  return signers;
}

/** How much the word of the pack is worth; one that is signed wrongly, or by nobody who has to, is a fault. */
export async function assuranceOf(session, { tree = {} }, bytes, trusted) {
  const [ssh, note] = [await session.read(`${packPath}.sig`), await session.read('derived/audit-pack.checkpoint')];
  const signers = ssh === null ? [] : [{ name: null, key: await sshSigner(ssh, bytes) }];
  const found = note === null ? [] : await signersOf(readNote(note), [...signers, ...trusted]);
  if (found.length > 0 && !isHead(readNote(note), tree)) fail('the checkpoint is about another tree');
  const keys = new Set([...signers, ...found].map(({ key }) => hex(key)));
  const known = new Set(trusted.map(({ key }) => hex(key)).filter((key) => keys.has(key))).size;
  if (known === 0 && trusted.length > 0) fail('no signature by a trusted key');
  return known > 1 ? 'witnessed' : known > 0 ? 'signed-trusted-key' : keys.size > 0 ? 'signed-unknown-key' : 'self-attested';
}

/** The keys in lines of `allowed_signers` or of C2SP; one that is only for some things or for some time is refused. */
export const keysIn = (text) =>
  (text.match(/^[^#\n].*/gm) ?? []).map((line) => {
    const [, blob] = /^[^"]*(?:\+[0-9a-f]{8}\+|ssh-ed25519 )([\w+/]+=*)/.exec(line) ?? fail(`no key that is known here: ${line}`);
    return { name: null, key: unbase64(blob).subarray(-32) };
  });
