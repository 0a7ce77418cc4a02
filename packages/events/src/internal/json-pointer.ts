/** The JSON pointer (RFC 6901) of nested member names and list positions. */
export function pointerOf(names: readonly (string | number)[]): string {
  return names.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
