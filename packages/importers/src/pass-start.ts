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

/**
 * The log says which passes there were; those over the present bytes are gone through again. Earlier ones over bytes
 * that the file does not hold any more say nothing, as long as the last one fits.
 */
function startAgain(facts: PassFacts, imported: ImportedFile): PassStart {
  const { file, size, isFinal } = facts;
  const same = passesThatFit(file, size, imported.passes);
  const last = imported.passes.at(-1);
  if (last !== undefined && !same.includes(last)) return fromFirstByte('rewritten', facts);
  const countedTo = same.at(-1)?.to ?? 0;
  const hash = new RunningSha256();
  hashPrefix(file, hash, 0, countedTo);
  const stops = same.filter((pass) => pass.isFinal).map(({ to }) => to);
  const finalAt = [...new Set(isFinal ? [...stops, size] : stops)];
  return { kind: 'folded-again', from: null, countedTo, hash, finalAt };
}

/** The passes over a beginning of the file as it is, from the shortest. */
function passesThatFit(
  file: FileHandle,
  size: number,
  passes: readonly ImportedPass[],
): readonly ImportedPass[] {
  const hash = new RunningSha256();
  let at = 0;
  return [...passes]
    .sort((a, b) => a.to - b.to)
    .filter((pass) => {
      if (pass.to > size || !hashPrefix(file, hash, at, pass.to)) return false;
      at = pass.to;
      return hash.digestHex() === pass.sha256;
    });
}
