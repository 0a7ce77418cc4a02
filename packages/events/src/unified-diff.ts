/** A place where two versions of a file differ, with what stands around it. Lines are counted from 1. */
export interface DiffHunk {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
  /** Each begins with its mark: a blank where it is in both versions, `-` in the old one only, `+` in the new one. */
  readonly lines: readonly string[];
}

/** What a unified diff says of one file. */
export interface DiffFile {
  /** As the headers have them, without the prefixes `a/` and `b/`; null where there is no such file, or no header. */
  readonly oldPath: string | null;
  readonly newPath: string | null;
  readonly hunks: readonly DiffHunk[];
  /** Whether the headers say that the file has been given another name. */
  readonly isRenamed: boolean;
  /** Whether all of it is there: no hunk ends early, and nothing was left out for being binary. */
  readonly isWhole: boolean;
}

/** The files of a unified diff, as `file_change` has it in `unified_diff`. What is no diff holds none. */
export function readUnifiedDiff(diff: string): readonly DiffFile[] {
  const reading = new DiffReading();
  const lines = diff.endsWith('\n') ? diff.slice(0, -1) : diff;
  for (const line of lines.split('\n')) reading.take(line.endsWith('\r') ? line.slice(0, -1) : line);
  return reading.end();
}

interface OpenHunk extends DiffHunk {
  readonly lines: string[];
}

interface OpenFile {
  oldPath: string | null;
  newPath: string | null;
  hasOldHeader: boolean;
  readonly hunks: OpenHunk[];
  isRenamed: boolean;
  isWhole: boolean;
}

const hunkForm = /^@@ -(\d{1,15})(?:,(\d{1,15}))? \+(\d{1,15})(?:,(\d{1,15}))? @@/;

class DiffReading {
  readonly #files: OpenFile[] = [];
  #oldLeft = 0;
  #newLeft = 0;

  take(line: string): void {
    // The counts of a hunk say which lines are its own, whatever they look like.
    if (this.#oldLeft > 0 || this.#newLeft > 0) this.#hunkLine(line);
    else this.#header(line);
  }

  end(): readonly DiffFile[] {
    this.#endHunk();
    return this.#files.map(({ hasOldHeader: _, ...file }) => file);
  }

  #hunkLine(line: string): void {
    const mark = line[0] ?? ' ';
    if (mark === '\\') return;
    if (mark !== '+' && mark !== '-' && mark !== ' ') {
      // Not a line of a hunk: what is here was cut short.
      this.#endHunk();
      this.#header(line);
      return;
    }
    this.#files
      .at(-1)
      ?.hunks.at(-1)
      ?.lines.push(line === '' ? ' ' : line);
    if (mark !== '+') this.#oldLeft -= 1;
    if (mark !== '-') this.#newLeft -= 1;
  }

  #endHunk(): void {
    const file = this.#files.at(-1);
    if (file !== undefined && (this.#oldLeft !== 0 || this.#newLeft !== 0)) file.isWhole = false;
    this.#oldLeft = 0;
    this.#newLeft = 0;
  }

  #header(line: string): void {
    this.#endHunk();
    const hunk = hunkForm.exec(line);
    if (hunk !== null) this.#startHunk(hunk);
    else if (line.startsWith('diff --git ')) this.#startFile();
    else if (line.startsWith('--- ')) this.#oldHeader(headerPath(line, 'a/'));
    else if (line.startsWith('+++ ')) this.#present().newPath = headerPath(line, 'b/');
    else if (line.startsWith('rename from ')) this.#rename({ oldPath: line.slice(12) });
    else if (line.startsWith('rename to ')) this.#rename({ newPath: line.slice(10) });
    else if (/^(?:Binary files .* differ$|GIT binary patch$)/.test(line)) this.#present().isWhole = false;
  }

  #startHunk(found: RegExpExecArray): void {
    const [, oldStart, oldCount = '1', newStart, newCount = '1'] = found;
    this.#oldLeft = Number(oldCount);
    this.#newLeft = Number(newCount);
    this.#present().hunks.push({
      oldStart: Number(oldStart),
      oldCount: this.#oldLeft,
      newStart: Number(newStart),
      newCount: this.#newLeft,
      lines: [],
    });
  }

  #oldHeader(path: string | null): void {
    const file = this.#present();
    const present = file.hasOldHeader || file.hunks.length > 0 ? this.#startFile() : file;
    present.hasOldHeader = true;
    present.oldPath = path;
  }

  #rename(paths: Partial<Pick<OpenFile, 'oldPath' | 'newPath'>>): void {
    Object.assign(this.#present(), paths, { isRenamed: true });
  }

  #present(): OpenFile {
    return this.#files.at(-1) ?? this.#startFile();
  }

  #startFile(): OpenFile {
    const file = {
      oldPath: null,
      newPath: null,
      hasOldHeader: false,
      hunks: [],
      isRenamed: false,
      isWhole: true,
    };
    this.#files.push(file);
    return file;
  }
}

function headerPath(line: string, prefix: string): string | null {
  const name = line.slice(4).split('\t')[0] ?? '';
  if (name === '/dev/null') return null;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}
