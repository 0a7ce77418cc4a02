import { sha256Hex } from '@turnlog/kernel';
import type { FileChange, ModelFile } from './model-file.js';
import type { SeededRandom } from './seed.js';

export interface Image {
  readonly bytes: Uint8Array;
  /** SHA-256 of them. */
  readonly digest: string;
}

/** Up to so many pending changes all their subsets are tried. */
const exhaustiveChangesMax = 6;

/**
 * What a crash may leave of a file's content: the durable image with a subset of the pending changes (all
 * subsets up to 6 changes; beyond, all prefixes and random ones), the last kept write whole, torn at 1 byte, half
 * or all but one byte, or full of zeros or noise; and all of it with the length still the durable one.
 *
 * A write that is missing below one that was kept leaves zeros. Equal images are given once; the first kept
 * nothing, the last kept everything. At most about `imagesMax`: whole writes come first, torn ones fill up.
 */
export function enumerateImages(file: ModelFile, random: SeededRandom, imagesMax: number): readonly Image[] {
  const images = new Map<string, Uint8Array>();
  const add = (image: Uint8Array): void => {
    images.set(sha256Hex(image), image);
  };
  add(file.durable);
  const kept = [...subsets(file.pending, random, imagesMax)];
  for (const changes of kept) {
    if (images.size < imagesMax) add(imageOf(file.durable, changes));
  }
  for (const changes of kept) {
    if (images.size >= imagesMax) break;
    for (const torn of tornVariants(changes, random)) add(imageOf(file.durable, torn));
    add(imageOf(file.durable, changes).subarray(0, file.durable.length));
  }
  const everything = sha256Hex(file.visible);
  images.delete(everything);
  images.set(everything, file.visible);
  return Array.from(images, ([digest, bytes]) => ({ digest, bytes }));
}

function* subsets(
  pending: readonly FileChange[],
  random: SeededRandom,
  sampleCount: number,
): Generator<readonly FileChange[], void, undefined> {
  if (pending.length <= exhaustiveChangesMax) {
    // From everything down to nothing, so that a bound on images keeps the likely ones.
    for (let mask = (1 << pending.length) - 1; mask > 0; mask -= 1) {
      yield pending.filter((_change, position) => (mask & (1 << position)) !== 0);
    }
    return;
  }
  for (let length = pending.length; length > 0; length -= 1) yield pending.slice(0, length);
  for (let sample = 0; sample < sampleCount; sample += 1) {
    yield pending.filter(() => random.below(2) === 1);
  }
}

function* tornVariants(
  changes: readonly FileChange[],
  random: SeededRandom,
): Generator<readonly FileChange[], void, undefined> {
  const last = changes.at(-1);
  if (last === undefined || last.kind === 'truncate') return;
  const before = changes.slice(0, -1);
  const { offset, bytes } = last;
  for (const length of [1, bytes.length >> 1, bytes.length - 1]) {
    if (length > 0 && length < bytes.length) {
      yield [...before, { kind: 'write', offset, bytes: bytes.subarray(0, length) }];
    }
  }
  yield [...before, { kind: 'write', offset, bytes: new Uint8Array(bytes.length) }];
  yield [...before, { kind: 'write', offset, bytes: random.bytes(bytes.length) }];
}

function imageOf(durable: Uint8Array, changes: readonly FileChange[]): Uint8Array {
  const lengths = changes.map((change) =>
    change.kind === 'write' ? change.offset + change.bytes.length : change.length,
  );
  const buffer = new Uint8Array(Math.max(durable.length, ...lengths));
  buffer.set(durable);
  let length = durable.length;
  for (const change of changes) {
    if (change.kind === 'write') {
      buffer.set(change.bytes, change.offset);
      length = Math.max(length, change.offset + change.bytes.length);
    } else {
      // What was cut off does not come back when the file grows again.
      buffer.fill(0, change.length);
      length = change.length;
    }
  }
  return buffer.subarray(0, length);
}
