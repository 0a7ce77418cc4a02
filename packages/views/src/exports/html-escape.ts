import { visibleText } from './whole-text.js';

const special: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as content or as the value of a quoted attribute: none of it is markup. */
export function html(text: string): string {
  return visibleText(text).replace(/[&<>"']/g, (character) => special[character] ?? '');
}
