/** Halves of surrogate pairs, as a cut through an emoji leaves them, become U+FFFD: no encoding has them. */
export function wholeText(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Printable ASCII with its line feeds and tabs, as most texts are, needs no change; one look finds that out. */
const notPlain = /[^\n\t\x20-\x7e]/;

/**
 * What a page would not show, or would show the wrong way round, becomes visible: control characters as their
 * pictures, bidi controls by their number. Line feeds and tabs stay.
 */
export function visibleText(text: string): string {
  if (!notPlain.test(text)) return text;
  return wholeText(text.replaceAll('\r\n', '\n')).replace(
    /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/gu,
    visible,
  );
}

function visible(character: string): string {
  if (character === '\n' || character === '\t') return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** A text that ends up on one line, without what a line must not hold. */
export function oneLine(text: string): string {
  return wholeText(text.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim());
}

/** The beginning of a text, for one line of a document. */
export function gistOf(text: string, unitsMax: number): string {
  const head = oneLine(text.slice(0, unitsMax * 4));
  if (head.length <= unitsMax && text.length <= unitsMax * 4) return head;
  return `${wholeText(head.slice(0, unitsMax)).replace(/\ufffd$/, '')}…`;
}
