import { Scanner } from '@turnlog/log';
import { compareMarks, decodeMarks } from './leaf-marks.js';
import type { PresentLog } from './present-log.js';
import { transformOf } from './transforms.js';
import { type Mismatch, mismatchAt } from './verdict.js';
import type { LogComparison, LogReading } from './verify-log.js';

/** What the bytes tell of a log whose first records are not those that were packed. */
export async function diagnoseLog(
  { pack, entry }: LogComparison,
  log: PresentLog,
  reading: LogReading,
): Promise<Mismatch> {
  const { tree } = pack.own;
  const { walked } = reading;
  const found = await transformOf(log.source, log.length, entry, 'beginning');
  if (found !== null)
    return mismatchAt(entry.path, 'content', { diagnosis: 'transformed', transform: found });
  if (walked.isHeaderBroken) return mismatchAt(entry.path, 'content', { diagnosis: 'edited', offset: 0 });
  if (walked.recordCount === 0) {
    return mismatchAt(entry.path, 'content', {
      diagnosis: 'unreadable',
      leavesGone: tree.size - tree.evicted,
    });
  }
  // Marks begin with the first packed record; those of a file that begins elsewhere have nothing to be compared with.
  if (tree.marks === null || walked.evicted !== tree.evicted) {
    return mismatchAt(entry.path, 'content', { diagnosis: 'replaced' });
  }
  const leafCount = tree.size - tree.evicted;
  const compared = compareMarks(decodeMarks(tree.marks), walked.marks, tree.marks.each, leafCount);
  const leavesGone = Math.max(tree.size - walked.tree.size, 0);
  if (compared.firstDifferent === null && log.length < entry.bytes) {
    const leavesIntact = leafCount - leavesGone;
    return mismatchAt(entry.path, 'content', { diagnosis: 'shorter', leavesGone, leavesIntact });
  }
  // All that is left is equal and the bytes are there: what was the next record is one no longer.
  const index = compared.firstDifferent === null ? walked.tree.size : tree.evicted + compared.firstDifferent;
  const { seq, offset } = placeOf(log, walked.evicted, index);
  return mismatchAt(entry.path, 'content', {
    diagnosis: compared.intact === 0 && leafCount > 1 ? 'replaced' : 'edited',
    index,
    seq,
    offset,
    leavesGone,
    leavesIntact: compared.intact,
  });
}

/** Seq and offset of the record that stands where leaf `index` should. */
function placeOf(
  log: PresentLog,
  evicted: number,
  index: number,
): { readonly seq: number | null; readonly offset: number | null } {
  const scanner = new Scanner(log.source, { to: log.length });
  let at = evicted;
  let end = 0;
  for (let piece = scanner.next(); piece !== null; piece = scanner.next()) {
    if (piece.verdict !== 'record') continue;
    const isHeader = piece.record.type === 'log.evicted' && piece.offset === 0;
    if (!isHeader && at === index) return { seq: piece.seq, offset: piece.offset };
    end = piece.end;
    if (!isHeader) at += 1;
  }
  return { seq: null, offset: end };
}
