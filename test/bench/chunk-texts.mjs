// Texts for search: chunks of about 360 characters over a vocabulary of 40,000 words, the n-th of which is 1/n as
// common as the first.

import { createRandom } from './generate.mjs';

const vocabularySize = 40_000;
const syllables = 'ba co di fe gu ha jo ki lu me no pa qui ro se ta uv wo xi zu'.split(' ');

/** The word of a rank, from 0; each rank has another one. */
export function wordAt(rank) {
  let text = '';
  for (let rest = rank + 20; rest > 0; rest = Math.floor(rest / 20)) text += syllables[rest % 20];
  return text;
}

/** Gives one text at each call. */
export function createChunks(seed = 20_261_005) {
  const random = createRandom(seed);
  const rank = () => Math.floor(vocabularySize ** random()) - 1;
  return () => {
    let text = wordAt(rank());
    while (text.length < 360) text += ` ${wordAt(rank())}`;
    return text;
  };
}

/** Queries of `termCount` words, neither the commonest nor the rarest. */
export function createQueries(termCount, seed = 7) {
  const random = createRandom(seed);
  const word = () => wordAt(Math.floor(20 * 1_000 ** random()));
  return () => Array.from({ length: termCount }, word);
}
