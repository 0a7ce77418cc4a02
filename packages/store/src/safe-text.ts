/**
 * Text from a log, made fit for a terminal. Logs hold what models, tools and other people wrote: an escape
 * sequence in it could rewrite what stands on the screen, a bidi control show a name the wrong way round.
 */

/** Everything a terminal might obey or not show: control, format and separator characters, half pairs. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu;

const lineFeed = '\n';
const tab = '\t';

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
}

function isSurrogate(character: string): boolean {
  const code = character.charCodeAt(0);
  return character.length === 1 && code >= 0xd800 && code <= 0xdfff;
}

/**
 * `text` with everything but newline and tab that controls or hides shown as a visible escape (`\x1b`, `\u202e`);
 * half surrogate pairs become U+FFFD.
 */
export function safeText(text: string): string {
  return text.replace(unsafe, (character) => {
    if (character === lineFeed || character === tab) return character;
    return isSurrogate(character) ? '\ufffd' : escapeOf(character);
  });
}

/** The most code points a line of `safeLine` has unless told otherwise. */
export const safeLineCodePointsMax = 200;

/** `text` on one line: newlines and tabs become blanks, what is too long ends in `…`. */
export function safeLine(text: string, codePointsMax: number = safeLineCodePointsMax): string {
  // Every code point gives at least one, and none is cut in two: twice the bound is enough to look at.
  const head = text.length > codePointsMax * 2 ? text.slice(0, codePointsMax * 2 + 2) : text;
  const line = safeText(head.replace(/\r?\n|\t/gu, ' '));
  const characters = [...line];
  if (characters.length <= codePointsMax && head.length === text.length) return line;
  return `${characters.slice(0, Math.max(codePointsMax - 1, 0)).join('')}…`;
}
