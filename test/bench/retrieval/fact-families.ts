import { decided, type Fact, type Item, ran, said } from './fact.js';
import { fresh } from './fresh.js';
import type { Prng } from './prng.js';
import { type Component, randomComponent } from './vocabulary.js';
import { areas, commands, nouns, projects, properties, reasons, topics } from './words.js';

type Command = (typeof commands)[number];

interface Use {
  readonly command: Command;
  readonly component: Component;
}

function commandItem(random: Prng, command: Command, component: Component): Item {
  const line = `${command.tool} ${command.verb} ${command.flag} ${component.kebab}`;
  return ran(line, `# ${command.says} of ${component.kebab}\ndone in ${random.between(1, 900)} s`);
}

export function commandFacts(random: Prng, count: number): readonly Fact[] {
  const used = new Set<string>();
  const pair = (command: Command, component: Component): string => `${command.flag} ${component.kebab}`;
  return Array.from({ length: count }, (_, at): Fact => {
    const asked = fresh(used, () => {
      const value = { command: random.pick(commands), component: randomComponent(random) };
      return { key: pair(value.command, value.component), value };
    });
    const { command, component } = asked;
    const free = (make: () => Use): Use =>
      fresh(used, () => {
        const value = make();
        return { key: pair(value.command, value.component), value };
      });
    const others = [
      ...Array.from({ length: 2 }, () => free(() => ({ command, component: randomComponent(random) }))),
      ...Array.from({ length: 4 }, () => free(() => ({ command: random.pick(commands), component }))),
    ];
    return {
      queryClass: 'command',
      text: `${command.says} ${component.words} ${at % 2 === 0 ? command.flag : command.tool}`,
      need: { words: [component.kebab, command.tool, command.verb, command.flag] },
      golds: [commandItem(random, command, component)],
      distractors: others.map((other) => commandItem(random, other.command, other.component)),
    };
  });
}

interface Choice {
  readonly topic: string;
  readonly chosen: string;
  readonly rejected: string;
}

function decisionItem(random: Prng, { topic, chosen, rejected }: Choice): Item {
  return decided(
    `Use ${chosen} as the ${topic} of ${random.pick(projects)}`,
    `${chosen} wins by its ${random.pick(reasons)}; ${rejected} was tried in ${random.pick(areas)}.`,
    [rejected],
  );
}

export function decisionFacts(random: Prng, count: number): readonly Fact[] {
  const pairs = Object.entries(topics).flatMap(([topic, choices]) =>
    choices.flatMap((left, at) => choices.slice(at + 1).map((right) => ({ topic, left, right }))),
  );
  const order = random.shuffled(pairs);
  const [asked, free] = [order.slice(0, count), order.slice(count)];
  return asked.map(({ topic, left, right }): Fact => {
    const [chosen, rejected] = random.below(2) === 0 ? [left, right] : [right, left];
    const near = free.filter(
      (other) =>
        other.topic === topic && [other.left, other.right].some((name) => name === left || name === right),
    );
    const distractors = Array.from({ length: 5 }, () => {
      const other = random.pick(near);
      return decisionItem(random, { topic, chosen: other.left, rejected: other.right });
    });
    return {
      queryClass: 'decision',
      text: `why ${chosen} and not ${rejected}`,
      need: { words: [chosen.toLowerCase(), rejected.toLowerCase()] },
      golds: [decisionItem(random, { topic, chosen, rejected })],
      distractors,
    };
  });
}

interface Property {
  readonly component: Component;
  readonly property: string;
  readonly noun: string;
}

function propertyItem(random: Prng, { component, property, noun }: Property): Item {
  const name = random.pick([component.camel, component.snake, component.kebab]);
  const first = random.pick([
    `The ${noun} of ${name} is ${property} since today.`,
    `${name} got a ${property} ${noun}.`,
    `Made the ${noun} ${property} in ${name}.`,
  ]);
  return said(`${first} Nothing else changes.`);
}

function spellingsOf({ camel, snake, kebab }: Component): readonly string[] {
  return [camel.toLowerCase(), snake, kebab];
}

export function manyFacts(random: Prng, count: number): readonly Fact[] {
  const used = new Set<string>();
  return Array.from({ length: count }, (): Fact => {
    const asked = fresh(used, () => {
      const value = {
        component: randomComponent(random),
        property: random.pick(properties),
        noun: random.pick(nouns),
      };
      return { key: value.component.camel, value };
    });
    const otherProperties = random.pickSome(
      properties.filter((each) => each !== asked.property),
      3,
    );
    const otherComponents = Array.from({ length: 3 }, () =>
      fresh(used, () => {
        const component = randomComponent(random);
        return { key: component.camel, value: component };
      }),
    );
    return {
      queryClass: 'many',
      text: `${asked.property} ${asked.noun} ${asked.component.words}`,
      need: { words: [asked.property, asked.noun], oneOf: spellingsOf(asked.component) },
      golds: Array.from({ length: random.between(2, 4) }, () => propertyItem(random, asked)),
      distractors: [
        ...otherProperties.map((property) => propertyItem(random, { ...asked, property })),
        ...otherComponents.map((component) => propertyItem(random, { ...asked, component })),
      ],
    };
  });
}
