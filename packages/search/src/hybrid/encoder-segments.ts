export interface SegmentBounds {
  /** A sentence shorter than this goes with the next one: by itself it would be near any short query. */
  readonly piecesMin: number;
  readonly piecesMax: number;
  readonly segmentsMax: number;
}

/** Words longer than this are taken apart: no piece of a vocabulary stands for them. */
const wordCodePointsMax = 40;

/**
 * Cuts a text into segments, each a sentence as far as possible: what is said in one is lost in the vector of several.
 * Sentences go together where one is too short, and in a text so long that there would be too many segments. None has
 * more than so many pieces of a vocabulary: what is longer is cut at the last end of a sentence in the second half of
 * what fits, else between two words. White space becomes one blank. What follows the last segment is left out.
 */
export function segmentsOf(
  text: string,
  piecesIn: (text: string) => number,
  { piecesMin, piecesMax, segmentsMax }: SegmentBounds,
): readonly string[] {
  const all = [...wordsOf(text, piecesIn)];
  const least = Math.max(piecesMin, Math.ceil(sumOf(all) / segmentsMax));
  const segments: Word[][] = [];
  let words: Word[] = [];
  let pieces = 0;
  for (const word of all) {
    if (pieces + word.pieces > piecesMax) {
      const end = cutOf(words);
      segments.push(words.slice(0, end));
      words = words.slice(end);
      pieces = sumOf(words);
    }
    words.push(word);
    pieces += word.pieces;
    if (pieces < least || !endsSentence(word)) continue;
    segments.push(words);
    words = [];
    pieces = 0;
  }
  const last = segments.at(-1);
  if (last !== undefined && pieces < least && sumOf(last) + pieces <= piecesMax) last.push(...words);
  else if (words.length > 0) segments.push(words);
  return segments.slice(0, segmentsMax).map(textOf);
}

interface Word {
  readonly text: string;
  readonly pieces: number;
}

function* wordsOf(text: string, piecesIn: (text: string) => number): Iterable<Word> {
  for (const [long] of text.matchAll(/\S+/gu)) {
    const codePoints = Array.from(long);
    for (let at = 0; at < codePoints.length; at += wordCodePointsMax) {
      const part = codePoints.slice(at, at + wordCodePointsMax).join('');
      yield { text: part, pieces: piecesIn(part) };
    }
  }
}

function cutOf(words: readonly Word[]): number {
  for (let end = words.length; end > words.length / 2; end -= 1) {
    const word = words[end - 1];
    if (word !== undefined && endsSentence(word)) return end;
  }
  return words.length;
}

function endsSentence({ text }: Word): boolean {
  return /[.!?]["')\]]*$/u.test(text);
}

function sumOf(words: readonly Word[]): number {
  return words.reduce((sum, { pieces }) => sum + pieces, 0);
}

function textOf(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ');
}
