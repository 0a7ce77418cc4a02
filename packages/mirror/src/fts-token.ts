/**
 * Tokens as FTS5 takes them (SE-28): letters, digits and everything beyond ASCII as they are, any other byte as `_`
 * and two hex digits. Separated by spaces they come out of its `ascii` tokenizer, with `_` a letter, as they went in.
 */
export function ftsToken(token: string): string {
  // What needs no other name is most of it.
  return plain.test(token)
    ? token
    : token.replace(special, (character) => `_${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** The token that `ftsToken` made this of. */
export function tokenOf(text: string): string {
  return text.includes('_')
    ? text.replace(/_([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
}

/** All tokens of a chunk, each as often as it occurs. */
export function ftsText(terms: ReadonlyMap<string, number>): string {
  const tokens: string[] = [];
  for (const [token, count] of terms) {
    const text = ftsToken(token);
    for (let left = count; left > 0; left -= 1) tokens.push(text);
  }
  return tokens.join(' ');
}

const special = /[^a-z0-9\u0080-\u{10ffff}]/gu;
const plain = /^[a-z0-9\u0080-\u{10ffff}]*$/u;
