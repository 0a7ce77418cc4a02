import { JsonTokenizer } from '@turnlog/kernel';

const decoder = new TextDecoder();

/**
 * The JSON text of a stored event as the interface prints it: member order and all values as stored, any nesting,
 * no passage through values of the runtime. Whole numbers beyond 2^53 become strings, beside them `<name>_exact`
 * is true; blanks between tokens are left out. It is not fit to be printed yet.
 *
 * @param bytes one JSON value, as a record holds it.
 */
export function eventJson(bytes: Uint8Array): string {
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, 0, bytes.length);
  const parts: string[] = [];
  let key: string | null = null;
  let needsComma = false;
  for (let token = tokenizer.next(); token !== 'end' && token !== 'error'; token = tokenizer.next()) {
    const text = decoder.decode(bytes.subarray(tokenizer.start, tokenizer.end));
    const isClosing = token === 'object-end' || token === 'array-end';
    if (needsComma && !isClosing) parts.push(',');
    if (token === 'key') {
      key = text;
      parts.push(key, ':');
      needsComma = false;
      continue;
    }
    parts.push(token === 'number' ? numberJson(text, key) : text);
    needsComma = token !== 'object-start' && token !== 'array-start';
    key = null;
  }
  return parts.join('');
}

const wholeNumber = /^-?\d+$/;

/** @param key the name it belongs to, quotes included; null in a list. */
function numberJson(text: string, key: string | null): string {
  if (!wholeNumber.test(text) || Number.isSafeInteger(Number(text))) return text;
  return key === null ? `"${text}"` : `"${text}",${key.slice(0, -1)}_exact":true`;
}
