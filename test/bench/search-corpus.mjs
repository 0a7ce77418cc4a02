// Chunks of about 360 characters from a Zipf vocabulary of 40,000 words, and questions about them, from a seed.

const vocabulary = 40_000;
const syllables = 'ka to mi ren sol dax pu lor ve nim tra qu zel bo fin gar'.split(' ');

/** The generator mulberry32: numbers from 0 up to 1. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function wordOf(number) {
  let word = '';
  for (let rest = number + 17; rest > 0; rest = Math.floor(rest / 16)) word += syllables[rest % 16];
  return word;
}

export function createCorpus(seed) {
  const random = randomFrom(seed);
  const words = Array.from({ length: vocabulary }, (_, number) => wordOf(number));
  const sums = new Float64Array(vocabulary);
  let sum = 0;
  for (let rank = 0; rank < vocabulary; rank += 1) {
    sum += 1 / (rank + 1);
    sums[rank] = sum;
  }
  const word = () => {
    const wanted = random() * sum;
    let [low, high] = [0, vocabulary - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return words[low];
  };
  const text = () => {
    let written = '';
    while (written.length < 360) written += `${word()} `;
    return written;
  };
  /** Distinct words, frequent ones more often than others, as they stand in texts. */
  const question = (count) => {
    const asked = new Set();
    while (asked.size < count) asked.add(word());
    return [...asked];
  };
  return { text, question };
}
