import { classOf, describeCodePoint, letterBit, wordClass } from './script-class.js';

/** What a character of ASCII is: part of a word, of these the letters, or what joins two words. */
export const wordBit = 1;
export const asciiLetterBit = 2;
export const joinerBit = 4;

export const colon = 0x3a;
export const plus = 0x2b;
export const hash = 0x23;

/** By byte; 0 for everything else. */
export const asciiKinds: Uint8Array = Uint8Array.from({ length: 0x100 }, (_, code) => {
  if (code >= 0x80) return 0;
  if ('-./\\:@#+'.includes(String.fromCharCode(code))) return joinerBit;
  const described = describeCodePoint(code);
  if (classOf(described) !== wordClass) return 0;
  return (described & letterBit) === 0 ? wordBit : wordBit | asciiLetterBit;
});
