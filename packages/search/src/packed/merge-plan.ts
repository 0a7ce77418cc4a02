import { limits } from '@turnlog/kernel';

/** What a plan needs to know of a segment. */
export interface MergeCandidate {
  readonly chunkCount: number;
  /** Chunks that have left the corpus and are still in the file. */
  readonly goneCount: number;
}

/**
 * Which segments are written anew as one, by their places in the list; empty when none need to. `tailChunks` are
 * written with them: 0 when there is no tail to be sealed.
 *
 * By size (SE-57): while the second smallest is not at least twice as large as the smallest, the two are joined. So
 * sizes at least double from one to the next, and each rewrite brings a chunk into a segment at least 1.5 times as
 * large.
 */
export function planMerge(segments: readonly MergeCandidate[], tailChunks: number): readonly number[] {
  const bySize = [...segments.keys()].sort((left, right) => sizeAt(segments, left) - sizeAt(segments, right));
  const joined: number[] = [];
  let size = tailChunks;
  for (const [position, place] of bySize.entries()) {
    if (size === 0 && !beginsJoin(segments, place, bySize[position + 1])) continue;
    const isTooClose = size === 0 || sizeAt(segments, place) < 2 * size;
    // Those that stay, and the one that is written.
    const isTooMany = segments.length - joined.length + 1 > limits.searchSegmentsMax;
    if (!isTooClose && !isTooMany) break;
    joined.push(place);
    size += sizeAt(segments, place);
  }
  return joined.length > 0 || tailChunks > 0 ? joined : planCleaning(segments);
}

/** Whether a segment is to be joined with the next larger one although no tail is sealed. */
function beginsJoin(segments: readonly MergeCandidate[], place: number, next: number | undefined): boolean {
  if (next === undefined) return false;
  const isTooMany = segments.length > limits.searchSegmentsMax;
  return isTooMany || sizeAt(segments, next) < 2 * sizeAt(segments, place);
}

/** The segment of which the largest part has left the corpus, if that is more than a fifth of it. */
function planCleaning(segments: readonly MergeCandidate[]): readonly number[] {
  let found: { readonly place: number; readonly part: number } | null = null;
  for (const [place, { chunkCount, goneCount }] of segments.entries()) {
    const part = chunkCount === 0 ? 0 : goneCount / chunkCount;
    if (part * limits.searchGonePart > 1 && part > (found?.part ?? 0)) found = { place, part };
  }
  return found === null ? [] : [found.place];
}

function sizeAt(segments: readonly MergeCandidate[], place: number): number {
  const { chunkCount, goneCount } = segments[place] ?? { chunkCount: 0, goneCount: 0 };
  return chunkCount - goneCount;
}

/** How many chunks a tail may have before a segment is made of them. */
export function tailChunksWanted(chunkCount: number): number {
  return Math.max(limits.searchTailChunks, Math.ceil(chunkCount / limits.searchTailPart));
}
