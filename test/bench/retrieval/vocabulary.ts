import type { Prng } from './prng.js';
import { areas, baseNames, fileEndings, nouns, qualifiers, roles, verbs } from './words.js';

/** A component in its three spellings, and as words. */
export interface Component {
  readonly camel: string;
  readonly snake: string;
  readonly kebab: string;
  readonly words: string;
}

export function componentOf(qualifier: string, role: string): Component {
  const [left, right] = [qualifier.toLowerCase(), role.toLowerCase()];
  return {
    camel: `${qualifier}${role}`,
    snake: `${left}_${right}`,
    kebab: `${left}-${right}`,
    words: `${left} ${right}`,
  };
}

export function randomComponent(random: Prng): Component {
  return componentOf(random.pick(qualifiers), random.pick(roles));
}

export interface PathParts {
  readonly area: string;
  readonly parent: string;
  readonly base: string;
}

export function pathOf({ area, parent, base }: PathParts): string {
  return `src/${area}/${parent}/${base}`;
}

export function randomPath(random: Prng): PathParts {
  const base = `${random.pick(baseNames)}.${random.pick(fileEndings)}`;
  return { area: random.pick(areas), parent: randomComponent(random).kebab, base };
}

/** A sentence about work, which is never what a query is about. */
export function randomSentence(random: Prng): string {
  const component = randomComponent(random);
  const name = random.pick([component.camel, component.camel, component.snake, component.kebab]);
  const verb = random.pick(verbs);
  const [one, two, three] = random.pickSome(nouns, 3);
  switch (random.below(5)) {
    case 0:
      return `I ${verb} the ${one} of ${name} so that the ${two} keeps its ${three}.`;
    case 1:
      return `The ${one} in ${name} was ${verb}, and the ${two} too.`;
    case 2:
      return `Why does ${name} need a ${one} before the ${two}?`;
    case 3:
      return `Next the ${one} and the ${two} of ${random.pick(areas)} are ${verb}.`;
    default:
      return `${name} has a ${one} that the ${two} does not use; the ${three} is ${verb} later.`;
  }
}

export function randomText(random: Prng, least: number, most: number): string {
  const count = random.between(least, most);
  return Array.from({ length: count }, () => randomSentence(random)).join(' ');
}
