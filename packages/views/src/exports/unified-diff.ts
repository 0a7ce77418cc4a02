import { type DiffHunk, readUnifiedDiff } from '@turnlog/events';

/** Lines that a diff adds, one after the other in the new file. */
export interface AddedRange {
  /** 1-based, both included. */
  readonly startLine: number;
  readonly endLine: number;
  readonly lines: readonly string[];
}

export interface AddedLines {
  /** As the header has it, without the prefix `b/`; null for a diff without headers, or of a removed file. */
  readonly path: string | null;
  readonly ranges: readonly AddedRange[];
}

/** The ranges that a unified diff adds, file by file. What is no diff adds nothing. */
export function addedRanges(diff: string): readonly AddedLines[] {
  return readUnifiedDiff(diff).map(({ newPath, hunks }) => ({
    path: newPath,
    ranges: hunks.flatMap(rangesIn),
  }));
}

function rangesIn({ newStart, lines }: DiffHunk): readonly AddedRange[] {
  const ranges: AddedRange[] = [];
  let added: string[] = [];
  let line = newStart;
  for (const marked of [...lines, ' ']) {
    if (marked.startsWith('+')) added.push(marked.slice(1));
    else if (added.length > 0) {
      ranges.push({ startLine: line - added.length, endLine: line - 1, lines: added });
      added = [];
    }
    if (!marked.startsWith('-')) line += 1;
  }
  return ranges;
}
