import { changed, type Fact, type Item, read, said } from './fact.js';
import { fresh } from './fresh.js';
import type { Prng } from './prng.js';
import { type PathParts, pathOf, randomComponent, randomPath } from './vocabulary.js';
import { areas, nouns } from './words.js';

type Form = 'full' | 'tail' | 'line' | 'windows';

const forms: readonly Form[] = ['full', 'tail', 'line', 'windows'];

export function pathFacts(random: Prng, count: number): readonly Fact[] {
  const used = new Set<string>();
  return Array.from({ length: count }, (_, at): Fact => {
    const form = forms[at % forms.length] ?? 'full';
    const asked = fresh(used, () => keyed(randomPath(random)));
    const others = Array.from({ length: 5 }, () =>
      fresh(used, () => {
        const other = { area: random.pick(areas), parent: randomComponent(random).kebab, base: asked.base };
        return keyed(other);
      }),
    );
    const line = random.between(10, 900);
    const path = pathOf(asked);
    if (form === 'line') {
      return {
        queryClass: 'path',
        text: `${path}:${line}`,
        need: { words: [`${path}:${line}`] },
        golds: [mention(random, path, line)],
        distractors: [
          ...[1, 2].map((step) => mention(random, path, line + step)),
          ...others.map((other) => mention(random, pathOf(other), line)),
        ],
      };
    }
    return {
      queryClass: 'path',
      text: askedText(form, asked),
      need: form === 'tail' ? { tail: askedText(form, asked) } : { words: [path] },
      golds: [touch(random, path)],
      distractors: others.map((other) => touch(random, pathOf(other))),
    };
  });
}

function askedText(form: Form, asked: PathParts): string {
  if (form === 'tail') return `${asked.parent}/${asked.base}`;
  return form === 'windows' ? pathOf(asked).replaceAll('/', '\\') : pathOf(asked);
}

/** Its last two parts name a path: no other one has them. */
function keyed(value: PathParts): { readonly key: string; readonly value: PathParts } {
  return { key: `${value.parent}/${value.base}`, value };
}

function touch(random: Prng, path: string): Item {
  switch (random.below(3)) {
    case 0:
      return read(path);
    case 1:
      return changed(path);
    default:
      return said(`The ${random.pick(nouns)} lives in ${path} now.`);
  }
}

function mention(random: Prng, path: string, line: number): Item {
  return said(`The ${random.pick(nouns)} is set in ${path}:${line} and nowhere else.`);
}
