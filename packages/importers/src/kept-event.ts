import type { SourceObject } from './source-object.js';

const keptCharactersMax = 16_384;

/** A record of the source that has no event of its own. Its text is cut so that it stays below 64 KiB of UTF-8. */
export function keptEvent(kind: string, why: string, object: SourceObject): object {
  const { text } = object;
  return { type: 'run.kept', kind, why, raw: cutText(text, keptCharactersMax) };
}

/** The first characters of a text; a pair of surrogates is not split. */
export function cutText(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const last = text.charCodeAt(charactersMax - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? charactersMax - 1 : charactersMax);
}
