import { wholeText } from './whole-text.js';

const special: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A text as content or as the value of a quoted attribute: none of it is markup. What a page would not show, or would
 * show the wrong way round, becomes visible: control characters as their pictures, bidi controls by their number.
 */
export function html(text: string): string {
  return wholeText(text.replaceAll('\r\n', '\n'))
    .replace(/[&<>"']/g, (character) => special[character] ?? '')
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/gu, visible);
}

function visible(character: string): string {
  if (character === '\n' || character === '\t') return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}
