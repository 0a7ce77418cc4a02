/** Halves of surrogate pairs, as a cut through an emoji leaves them, become U+FFFD: no encoding has them. */
export function wholeText(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
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
