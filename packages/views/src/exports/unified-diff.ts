/** Lines that a diff adds, one after the other in the new file. */
export interface AddedRange {
  /** 1-based, both included. */
  readonly startLine: number;
  readonly endLine: number;
  readonly lines: readonly string[];
}

export interface DiffFile {
  /** As the header has it, without the prefix `b/`; null for a diff without headers, or of a removed file. */
  readonly path: string | null;
  readonly ranges: readonly AddedRange[];
}

const hunkForm = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** The ranges that a unified diff adds, file by file. What is no diff adds nothing. */
export function addedRanges(diff: string): readonly DiffFile[] {
  const reading = new DiffReading();
  for (const line of diff.split('\n')) reading.take(line.endsWith('\r') ? line.slice(0, -1) : line);
  return reading.end();
}

class DiffReading {
  readonly #files: { path: string | null; ranges: AddedRange[] }[] = [];
  #oldLeft = 0;
  #newLeft = 0;
  #newLine = 0;
  #added: string[] = [];

  take(line: string): void {
    // The counts of a hunk say which lines are its own, whatever they look like.
    if (this.#oldLeft > 0 || this.#newLeft > 0) this.#hunkLine(line);
    else this.#header(line);
  }

  end(): readonly DiffFile[] {
    this.#endRange();
    return this.#files;
  }

  #header(line: string): void {
    this.#endRange();
    if (line.startsWith('+++ ')) this.#files.push({ path: headerPath(line), ranges: [] });
    const hunk = hunkForm.exec(line);
    if (hunk === null) return;
    if (this.#files.length === 0) this.#files.push({ path: null, ranges: [] });
    this.#oldLeft = Number(hunk[1] ?? 1);
    this.#newLine = Number(hunk[2]);
    this.#newLeft = Number(hunk[3] ?? 1);
  }

  #hunkLine(line: string): void {
    const mark = line[0] ?? ' ';
    if (mark === '\\') return;
    if (mark === '+') {
      this.#added.push(line.slice(1));
      this.#newLeft -= 1;
      this.#newLine += 1;
      return;
    }
    this.#endRange();
    this.#oldLeft -= 1;
    if (mark === '-') return;
    this.#newLeft -= 1;
    this.#newLine += 1;
  }

  #endRange(): void {
    if (this.#added.length === 0) return;
    const endLine = this.#newLine - 1;
    const startLine = endLine - this.#added.length + 1;
    this.#files.at(-1)?.ranges.push({ startLine, endLine, lines: this.#added });
    this.#added = [];
  }
}

function headerPath(line: string): string | null {
  const name = line.slice(4).split('\t')[0] ?? '';
  if (name === '/dev/null') return null;
  return name.startsWith('b/') ? name.slice(2) : name;
}
