export interface SegmentBounds {
  readonly piecesMax: number;
  readonly segmentsMax: number;
}

/** Words longer than this are taken apart: no piece of a vocabulary stands for them. */
const wordCodePointsMax = 40;

/**
 * Cuts a text into segments of at most so many pieces of a vocabulary: at the last end of a sentence in the second half
 * of what fits, else between two words. White space becomes one blank. What follows the last segment is left out.
 */
export function segmentsOf(
  text: string,
  piecesIn: (text: string) => number,
  { piecesMax, segmentsMax }: SegmentBounds,
): readonly string[] {
  const segments: string[] = [];
  let words: Word[] = [];
  for (const word of wordsOf(text, piecesIn)) {
    if (sumOf(words) + word.pieces > piecesMax) {
      const end = cutOf(words);
      segments.push(textOf(words.slice(0, end)));
      if (segments.length === segmentsMax) return segments;
      words = words.slice(end);
    }
    words.push(word);
  }
  if (words.length > 0) segments.push(textOf(words));
  return segments;
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
    if (/[.!?]["')\]]*$/u.test(words[end - 1]?.text ?? '')) return end;
  }
  return words.length;
}

function sumOf(words: readonly Word[]): number {
  return words.reduce((sum, { pieces }) => sum + pieces, 0);
}

function textOf(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ');
}
