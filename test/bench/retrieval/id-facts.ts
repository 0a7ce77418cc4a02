import { type Fact, type Item, said } from './fact.js';
import { fresh } from './fresh.js';
import type { Prng } from './prng.js';
import { randomComponent } from './vocabulary.js';
import { nouns, verbs } from './words.js';

const hex = '0123456789abcdef';
const digits = '0123456789';
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

interface Family {
  readonly name: string;
  make(random: Prng): string;
  /** The id with one character changed, so that it is another one of the family, for whoever asks for `asked`. */
  readonly changedFrom: number;
  readonly changedTo: (id: string) => number;
  readonly alphabet: string;
  readonly asked: (id: string) => string;
}

const whole = (id: string): string => id;

/**
 * Of a hash that is asked for by its first characters the change lies among those. The ninth is not among them: the
 * tokenizer knows a hash by its first 7, 8 and 12 characters.
 */
const families: readonly Family[] = [
  {
    name: 'ticket',
    make: (random) => `${random.text('abcdefghijklmnopqrstuvwxyz', 2)}-${random.text(letters, 4)}`,
    changedFrom: 3,
    changedTo: (id) => id.length,
    alphabet: letters,
    asked: whole,
  },
  {
    name: 'hash',
    make: (random) => hashOf(random),
    changedFrom: 0,
    changedTo: (id) => id.length,
    alphabet: hex,
    asked: whole,
  },
  {
    name: 'hash of 7',
    make: (random) => hashOf(random),
    changedFrom: 0,
    changedTo: () => 7,
    alphabet: hex,
    asked: (id) => id.slice(0, 7),
  },
  {
    name: 'hash of 9',
    make: (random) => hashOf(random),
    changedFrom: 0,
    changedTo: () => 8,
    alphabet: hex,
    asked: (id) => id.slice(0, 9),
  },
  {
    name: 'version',
    make: (random) => `v${random.between(1, 40)}.${random.between(10, 99)}.${random.between(100, 999)}`,
    changedFrom: -1,
    changedTo: (id) => id.length,
    alphabet: digits,
    asked: (id) => id.slice(1),
  },
  {
    name: 'error code',
    make: (random) => `${random.pick(['E', 'TS', 'ORA', 'PG'])}${random.between(10_000, 99_999)}`,
    changedFrom: -3,
    changedTo: (id) => id.length,
    alphabet: digits,
    asked: whole,
  },
  {
    name: 'big number',
    make: (random) => `25${random.text(digits, 17)}`,
    changedFrom: 2,
    changedTo: (id) => id.length,
    alphabet: digits,
    asked: whole,
  },
];

/** With a letter and a digit among the first seven, as nearly every hash has. */
function hashOf(random: Prng): string {
  for (;;) {
    const hash = random.text(hex, 40);
    if (/[a-f]/.test(hash.slice(0, 7)) && /\d/.test(hash.slice(0, 7))) return hash;
  }
}

function changedId(random: Prng, family: Family, id: string): string {
  const from = family.changedFrom < 0 ? id.length + family.changedFrom : family.changedFrom;
  const at = random.between(from, family.changedTo(id) - 1);
  const other = random.pick([...family.alphabet].filter((character) => character !== id.charAt(at)));
  return id.slice(0, at) + other + id.slice(at + 1);
}

function mention(random: Prng, id: string): Item {
  const component = randomComponent(random).camel;
  const [one, two] = random.pickSome(nouns, 2);
  switch (random.below(3)) {
    case 0:
      return said(`The ${one} of ${component} was ${random.pick(verbs)}, see ${id} for the ${two}.`);
    case 1:
      return said(`${component}: ${id} broke the ${one} and the ${two}.`);
    default:
      return said(`I ${random.pick(verbs)} the ${one} as ${id} says, without the ${two}.`);
  }
}

export function exactIdFacts(random: Prng, count: number): readonly Fact[] {
  const used = new Set<string>();
  return Array.from({ length: count }, (_, at): Fact => {
    const family = familyAt(at);
    const id = freshId(random, used, family);
    const distractors = Array.from({ length: 6 }, () =>
      fresh(used, () => keyed(changedId(random, family, id), family)),
    );
    const isPrefix = family.name.startsWith('hash of');
    return {
      queryClass: 'exact-id',
      text: family.asked(id),
      need: isPrefix ? { prefix: family.asked(id) } : { words: [id.toLowerCase()] },
      golds: [mention(random, id)],
      distractors: distractors.map((other) => mention(random, other)),
    };
  });
}

/** Ids that stand nowhere: what is planted are near ones. */
export function noneFacts(random: Prng, count: number): readonly Fact[] {
  const used = new Set<string>();
  const compounds = families.filter(({ name }) => name === 'ticket' || name === 'version');
  return Array.from({ length: count }, (_, at): Fact => {
    const family = compounds[at % compounds.length] ?? familyAt(0);
    const id = freshId(random, used, family);
    const distractors = Array.from({ length: 5 }, () =>
      fresh(used, () => keyed(changedId(random, family, id), family)),
    );
    return {
      queryClass: 'none',
      text: family.asked(id),
      need: { words: [id.toLowerCase()] },
      golds: [],
      distractors: distractors.map((other) => mention(random, other)),
    };
  });
}

function familyAt(at: number): Family {
  const family = families[at % families.length];
  if (family === undefined) throw new Error('there is a family for every number');
  return family;
}

function freshId(random: Prng, used: Set<string>, family: Family): string {
  return fresh(used, () => keyed(family.make(random), family));
}

/** What is asked for must be another for every id. */
function keyed(value: string, family: Family): { readonly key: string; readonly value: string } {
  return { key: `${family.name} ${family.asked(value)}`, value };
}
