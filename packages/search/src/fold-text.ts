const letterWithMarks = /((?=\p{L})[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Hebr}\p{sc=Arab}])\p{Mn}+/gu;
const beyondAscii = /[^\0-\x7f]/;

/**
 * A text without the differences that nobody types (SE-11): case, and the marks on letters of the scripts in which
 * they are left out in writing.
 */
export function foldText(text: string): string {
  if (!beyondAscii.test(text)) return text.toLowerCase();
  return text
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .normalize('NFD')
    .replace(letterWithMarks, '$1')
    .normalize('NFC');
}

const invisible = /[\p{Default_Ignorable_Code_Point}\u0640]/gu;

function withoutInvisible(text: string): string {
  return text.replaceAll('\u200b', ' ').replace(invisible, '');
}

/** A text without what cannot be seen, in the one form of its characters (SE-9, steps 1 to 3). */
export function plainForm(text: string): string {
  if (!beyondAscii.test(text)) return text;
  return withoutInvisible(withoutInvisible(text).normalize('NFKC'));
}
