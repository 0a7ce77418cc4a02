import { visibleText } from './whole-text.js';

const special: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const needsEscape = /[&<>"']/;

/** A text as content or as the value of a quoted attribute: none of it is markup. */
export function html(text: string): string {
  const visible = visibleText(text);
  return needsEscape.test(visible) ? visible.replace(/[&<>"']/g, (mark) => special[mark] ?? '') : visible;
}
