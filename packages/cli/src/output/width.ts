/** Blocks whose characters take two columns (Unicode TR11, the wide and full-width ones that matter). */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{1fa70}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const mark = /\p{M}/u;

function characterWidth(character: string): number {
  if (character < '\u0300') return 1;
  if (mark.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** How many columns of a terminal `text` takes, one line without escapes. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** `text` in at most `widthMax` columns; what is cut ends in `…`. */
export function fitText(text: string, widthMax: number): string {
  if (textWidth(text) <= widthMax) return text;
  let width = 1;
  let kept = '';
  for (const character of text) {
    width += characterWidth(character);
    if (width > widthMax) break;
    kept += character;
  }
  return widthMax < 1 ? '' : `${kept.trimEnd()}…`;
}

/** `text` followed by blanks up to `width` columns. */
export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(width - textWidth(text), 0));
}
