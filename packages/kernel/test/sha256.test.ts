import { createHash } from 'node:crypto';
import { sha256, sha256Hex, sha256Text } from '../src/index.js';

const texts: readonly (readonly [name: string, text: string])[] = [
  ['nothing', ''],
  ['plain', 'abc'],
  ['a zero byte', 'a\0b\u0000'],
  ['two bytes', 'naïve'],
  ['three bytes', '日本語'],
  ['a surrogate pair', 'x\u{1f600}y'],
  ['half a pair', 'x\ud83dy'],
  ['the other half', '\ude00'],
  ['a long text', 'log of turns '.repeat(10_000)],
];

test.each(texts)('the digest of a text is that of its UTF-8 bytes: %s', (_, text) => {
  const bytes = new TextEncoder().encode(text);
  const expected = createHash('sha256').update(bytes).digest();
  expect(Buffer.from(sha256(bytes)).equals(expected)).toBe(true);
  expect(sha256Hex(bytes)).toBe(expected.toString('hex'));
  expect(sha256Text(text, 'hex')).toBe(expected.toString('hex'));
  expect(sha256Text(text, 'base64url')).toBe(expected.toString('base64url'));
});
