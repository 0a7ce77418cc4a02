import type { PackEntry } from './pack.js';

/**
 * The digests of a pack as `sha256sum -c` takes them, to be run in the session directory. A name with a newline is
 * written as coreutils do: escaped, with a backslash before the line.
 */
export function encodeSums(entries: readonly PackEntry[]): Uint8Array {
  const lines = entries.map(({ path, sha256 }) => {
    const isEscaped = /[\n\r]/.test(path);
    const name = isEscaped ? path.replaceAll('\n', '\\n').replaceAll('\r', '\\r') : path;
    return `${isEscaped ? '\\' : ''}${sha256}  ${name}\n`;
  });
  return Buffer.from(lines.join(''));
}
