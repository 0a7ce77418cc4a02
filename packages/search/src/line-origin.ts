import type { DiffHunk } from '@turnlog/events';

/** Where a line of the new version of a file was in the old one, or what added it. */
export type LineBefore =
  | { readonly kind: 'kept'; readonly line: number }
  | { readonly kind: 'added'; readonly text: string };

/** Follows a line, counted from 1, back through the hunks of one change, which stand in the order of the file. */
export function lineBefore(hunks: readonly DiffHunk[], line: number): LineBefore {
  let shift = 0;
  for (const hunk of hunks) {
    const first = firstLine(hunk.newStart, hunk.newCount);
    if (line < first) break;
    if (line < first + hunk.newCount) return lineInHunk(hunk, line);
    shift += hunk.newCount - hunk.oldCount;
  }
  return { kind: 'kept', line: line - shift };
}

/** A range without lines names the line before it. */
function firstLine(start: number, count: number): number {
  return count === 0 ? start + 1 : start;
}

function lineInHunk({ oldStart, oldCount, newStart, newCount, lines }: DiffHunk, line: number): LineBefore {
  let oldLine = firstLine(oldStart, oldCount);
  let newLine = firstLine(newStart, newCount);
  for (const marked of lines) {
    const isAdded = marked.startsWith('+');
    const isRemoved = marked.startsWith('-');
    if (newLine === line && !isRemoved) {
      return isAdded ? { kind: 'added', text: marked.slice(1) } : { kind: 'kept', line: oldLine };
    }
    if (!isAdded) oldLine += 1;
    if (!isRemoved) newLine += 1;
  }
  return { kind: 'kept', line: oldLine };
}
