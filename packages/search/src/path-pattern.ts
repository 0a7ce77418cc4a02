/**
 * Matches paths as `--path` means them (SE-18): the whole path, its last segments, or a glob with `*` within a
 * segment, `**` over segments and `?` for one character. Both sides are `/`-separated.
 */
export class PathPattern {
  readonly text: string;
  readonly #glob: RegExp | null;

  constructor(text: string) {
    this.text = normalisePath(text);
    this.#glob = /[*?]/.test(this.text) ? globOf(this.text) : null;
  }

  matches(path: string): boolean {
    const normal = normalisePath(path);
    if (this.#glob !== null) return this.#glob.test(normal);
    return normal === this.text || normal.endsWith(`/${this.text}`);
  }
}

/** A path with `/` between its segments, whatever system it is of. */
export function normalisePath(path: string): string {
  return path.replaceAll('\\', '/');
}

/** Nothing in a glob can take more than linear time: runs of stars are one, and each is bounded by what follows. */
function globOf(text: string): RegExp {
  const source = text
    .replace(/\*{3,}/g, '**')
    .replace(/\*\*\/|\*\*|\*|\?|[\\^$.|+()[\]{}]/g, (part) => globParts.get(part) ?? `\\${part}`);
  return new RegExp(`^(?:.*/)?${source}$`, 'su');
}

const globParts: ReadonlyMap<string, string> = new Map([
  ['**/', '(?:.*/)?'],
  ['**', '.*'],
  ['*', '[^/]*'],
  ['?', '[^/]'],
]);
