/**
 * What a code point is to the tokenizer (SE-9), as one number, so that a scan asks once per code point:
 *
 *   bits 0–3   class
 *   bit  4     upper or title case
 *   bit  5     lower case
 *   bit  6     letter
 *   bit  7     letter or digit: a piece without one is no token
 *   bits 8–16  Script of a letter of the word class; 0 for what goes with every script
 *
 * The properties are those of the Unicode version that the running Node knows.
 */

/** Ends whatever stands before it. */
export const separatorClass = 1;
export const wordClass = 2;
export const emojiClass = 3;
/** One of the pair that makes a flag. */
export const regionalClass = 4;
/** The first of the classes written without spaces; all from here on are. */
export const unspacedClass = 5;

export const upperBit = 0x10;
export const lowerBit = 0x20;
export const letterBit = 0x40;
export const alphanumericBit = 0x80;
const scriptShift = 8;

/** The classes written without spaces, in the order of their numbers. */
const unspacedScripts: readonly RegExp[] = [
  /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}]/u,
  /\p{scx=Hang}/u,
  /\p{scx=Thai}/u,
  /\p{scx=Laoo}/u,
  /\p{scx=Khmr}/u,
  /\p{scx=Mymr}/u,
];

/** The scripts of Unicode 15, the most frequent first. Later ones, which not every Node knows, count as one. */
const scriptNames =
  `Latn Cyrl Grek Arab Hebr Deva Zyyy Zinh Adlm Aghb Ahom Armi Armn Avst Bali Bamu Bass Batk Beng
  Bhks Brah Brai Bugi Buhd Cakm Cans Cari Cham Cher Chrs Copt Cpmn Cprt Diak Dogr Dsrt Dupl Egyp Elba Elym Ethi
  Geor Glag Gong Gonm Goth Gran Gujr Guru Hano Hatr Hluw Hmng Hmnp Hung Ital Java Kali Kawi Khar Khoj Kits Knda
  Kthi Lana Lepc Limb Lina Linb Lisu Lyci Lydi Mahj Maka Mand Mani Marc Medf Mend Merc Mero Mlym Modi Mong Mroo
  Mtei Mult Nagm Nand Narb Nbat Newa Nkoo Nshu Ogam Olck Orkh Orya Osge Osma Ougr Palm Pauc Perm Phag Phli Phlp
  Phnx Plrd Prti Rjng Rohg Runr Samr Sarb Saur Sgnw Shaw Shrd Sidd Sind Sinh Sogd Sogo Sora Soyo Sund Sylo Syrc
  Tagb Takr Tale Talu Taml Tang Tavt Telu Tfng Tglg Tibt Tirh Tnsa Toto Ugar Vaii Vith Wara Wcho Xpeo Xsux Yezi
  Yiii Zanb`.split(/\s+/u);

const scriptPatterns: readonly RegExp[] = scriptNames.map((name) => new RegExp(`\\p{sc=${name}}`, 'u'));

function scriptNumber(character: string): number {
  const found = scriptPatterns.findIndex((pattern) => pattern.test(character));
  return found === -1 ? scriptPatterns.length + 1 : found + 1;
}

function unspacedClassOf(character: string): number | null {
  if (!/[\p{L}\p{M}\p{Nl}]/u.test(character)) return null;
  const found = unspacedScripts.findIndex((pattern) => pattern.test(character));
  return found === -1 ? null : unspacedClass + found;
}

function describe(codePoint: number): number {
  const character = String.fromCodePoint(codePoint);
  const isLetter = /\p{L}/u.test(character);
  const bits =
    (/[\p{Lu}\p{Lt}]/u.test(character) ? upperBit : 0) |
    (/\p{Ll}/u.test(character) ? lowerBit : 0) |
    (isLetter ? letterBit : 0) |
    (isLetter || /\p{N}/u.test(character) ? alphanumericBit : 0);
  const unspaced = unspacedClassOf(character);
  if (unspaced !== null) return unspaced | bits;
  if (/[\p{L}\p{M}\p{N}_]/u.test(character)) {
    return wordClass | bits | ((isLetter ? scriptNumber(character) : 0) << scriptShift);
  }
  if (/\p{Extended_Pictographic}/u.test(character)) return emojiClass;
  return /\p{Regional_Indicator}/u.test(character) ? regionalClass : separatorClass;
}

const ascii = Int32Array.from({ length: 0x80 }, (_, codePoint) => describe(codePoint));

/** The others, filled in as they are met; 0 is not yet known. */
const pageBits = 8;
const pages: (Int32Array | undefined)[] = [];

/** What the code point is; a lone surrogate separates. */
export function describeCodePoint(codePoint: number): number {
  return codePoint < 0x80 ? (ascii[codePoint] ?? separatorClass) : describeRare(codePoint);
}

function describeRare(codePoint: number): number {
  const page = pages[codePoint >> pageBits] ?? new Int32Array(1 << pageBits);
  pages[codePoint >> pageBits] = page;
  const place = codePoint & ((1 << pageBits) - 1);
  const known = page[place] ?? 0;
  if (known !== 0) return known;
  const described = describe(codePoint);
  page[place] = described;
  return described;
}

export function classOf(description: number): number {
  return description & 0xf;
}

export function scriptOf(description: number): number {
  return description >> scriptShift;
}
