import { type FileHandle, RunningSha256 } from '@turnlog/kernel';
import type { FileState } from './import-state.js';
import { hashPrefix } from './raw-copy.js';
import type { ImportedFile, ImportedPass } from './session-history.js';

/** Where a pass over a file begins, and what is known there. */
export interface PassStart {
  /**
   * `resumed`: behind what the state of the last pass covers. `folded-again`: from the first byte, because there is
   * no such state; what is in the log already is dropped by its keys. `rewritten`: likewise, but the file does not
   * hold the bytes any more that it held. `new`: the session does not know the file.
   */
  readonly kind: 'new' | 'resumed' | 'folded-again' | 'rewritten';
  readonly from: FileState | null;
  /** How far earlier passes came with these very bytes, and the digest of the bytes before. */
  readonly countedTo: number;
  readonly hash: RunningSha256;
  /** Places at which the file is, or was, final. */
  readonly finalAt: readonly number[];
}

export interface PassFacts {
  readonly file: FileHandle;
  readonly size: number;
  readonly isFinal: boolean;
  /** The state that the last pass left of this file. */
  readonly before: FileState | null;
  /** What the log says of it. */
  readonly imported: ImportedFile | null;
}

/** Decides where a pass begins. Reads what earlier passes have read, to see whether it is still the same. */
export function choosePassStart(facts: PassFacts): PassStart {
  if (facts.before !== null) return startBehind(facts, facts.before);
  if (facts.imported !== null) return startAgain(facts, facts.imported);
  return fromFirstByte('new', facts);
}

function fromFirstByte(kind: PassStart['kind'], { isFinal, size }: PassFacts): PassStart {
  return { kind, from: null, countedTo: 0, hash: new RunningSha256(), finalAt: isFinal ? [size] : [] };
}

function startBehind(facts: PassFacts, before: FileState): PassStart {
  const { file, size, isFinal } = facts;
  const hash = new RunningSha256();
  const to = before.to.offset;
  const isSame = size >= to && hashPrefix(file, hash, 0, to) && hash.digestHex() === before.sha256;
  if (!isSame) return fromFirstByte('rewritten', facts);
  const isEnded = before.isFinal && to === size;
  return { kind: 'resumed', from: before, countedTo: to, hash, finalAt: isFinal && !isEnded ? [size] : [] };
}

/** The log says which passes there were; those over the present bytes are gone through again. */
function startAgain(facts: PassFacts, imported: ImportedFile): PassStart {
  const { file, size, isFinal } = facts;
  const passes = [...imported.passes].sort((a, b) => a.to - b.to);
  const hash = new RunningSha256();
  const same: ImportedPass[] = [];
  let at = 0;
  for (const pass of passes) {
    if (pass.to > size || !hashPrefix(file, hash, at, pass.to)) break;
    at = pass.to;
    if (hash.digestHex() !== pass.sha256) break;
    same.push(pass);
  }
  if (same.length < passes.length) return fromFirstByte('rewritten', facts);
  const stops = same.filter((pass) => pass.isFinal).map(({ to }) => to);
  const finalAt = [...new Set(isFinal ? [...stops, size] : stops)];
  return { kind: 'folded-again', from: null, countedTo: at, hash, finalAt };
}
