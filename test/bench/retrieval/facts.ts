import { type Fact, failed, type Item, plainWords, ran, type Scale, said } from './fact.js';
import { commandFacts, decisionFacts, manyFacts } from './fact-families.js';
import { fresh } from './fresh.js';
import { exactIdFacts, noneFacts } from './id-facts.js';
import { pathFacts } from './path-facts.js';
import type { Prng } from './prng.js';
import { type Component, randomComponent } from './vocabulary.js';
import { causes, failures, nouns, type Script, scriptNames, scripts, sentenceParts } from './words.js';

/** Everything that is planted in a world, in the order of its queries. */
export function planFacts(random: Prng, { queries }: Scale): readonly Fact[] {
  return [
    ...exactIdFacts(random, queries['exact-id']),
    ...pathFacts(random, queries.path),
    ...errorFacts(random, queries.error),
    ...commandFacts(random, queries.command),
    ...decisionFacts(random, queries.decision),
    ...paraphraseFacts(random, queries.paraphrase),
    ...manyFacts(random, queries.many),
    ...scriptFacts(random, queries.script),
    ...noneFacts(random, queries.none),
  ];
}

/** One of 150 templates, with the component that it speaks of. */
interface Failure {
  readonly component: Component;
  readonly failure: string;
  readonly cause: string;
  readonly code: string;
}

function failureOf(component: Component, failure: string, cause: string): Failure {
  return { component, failure, cause, code: codeOf(failure, cause) };
}

/** Each template has a code of its own. */
function codeOf(failure: string, cause: string): string {
  const word = (at: number): string => (nouns[at % nouns.length] ?? '').toUpperCase();
  const at = failures.indexOf(failure) * causes.length + causes.indexOf(cause);
  return `ERR_${word(at)}_${word(at * 7 + Math.floor(at / nouns.length) + 1)}`;
}

/** The message with numbers and directories of its own. */
function messageOf(random: Prng, { component, failure, cause, code }: Failure): string {
  const directory = (): string =>
    `/${random.pick(['srv', 'var', 'opt', 'home'])}/${random.pick(nouns)}/${random.below(900)}`;
  return `${code} ${failure}: ${cause}`
    .replace('@', component.camel)
    .replaceAll('#', () => String(random.between(2, 99_999)))
    .replaceAll('%', directory);
}

function errorItem(random: Prng, failure: Failure): Item {
  const message = messageOf(random, failure);
  return random.below(2) === 0
    ? failed(message)
    : ran(`make ${random.pick(nouns)}`, `building\n${message}\nstopped`);
}

function errorFacts(random: Prng, count: number): readonly Fact[] {
  const used = new Set<string>();
  const templates = random.shuffled(
    failures.flatMap((failure) => causes.map((cause) => ({ failure, cause }))),
  );
  const all = Array.from({ length: count }, (_, at) =>
    fresh(used, () => {
      const { failure, cause } = templates[at % templates.length] ?? random.pick(templates);
      const value = failureOf(randomComponent(random), failure, cause);
      return { key: value.component.camel, value };
    }),
  );
  const answers = new Set(all.map(nameOf));
  /** Another failure that is nobody's. */
  const near = (make: () => Failure): Failure => {
    for (;;) {
      const made = make();
      if (!answers.has(nameOf(made))) return made;
    }
  };
  return all.map((asked): Fact => {
    const { component, failure, cause, code } = asked;
    const other = <Value>(values: readonly Value[], not: Value): Value =>
      random.pick(values.filter((value) => value !== not));
    const distractors: readonly Failure[] = [
      // The same code with another message, of the same component and of others.
      ...[1, 2].map(() => failureOf(component, failure, other(causes, cause))),
      ...[1, 2].map(() => failureOf(component, other(failures, failure), cause)),
      ...[1, 2].map(() =>
        near(() => failureOf(randomComponent(random), other(failures, failure), other(causes, cause))),
      ),
    ].map((each) => ({ ...each, code }));
    return {
      queryClass: 'error',
      text: messageOf(random, asked),
      need: { words: plainWords(`${component.camel} ${plainOf(failure)} ${plainOf(cause)}`) },
      golds: [errorItem(random, asked)],
      distractors: distractors.map((each) => errorItem(random, each)),
    };
  });
}

function nameOf({ component, failure, cause }: Failure): string {
  return `${component.camel} ${failure} ${cause}`;
}

/** The fixed words of a template. */
function plainOf(template: string): string {
  return template.replace(/[@#%()]/g, ' ');
}

/** Words of a sentence, each with the one that a question has in its place. */
type Said = readonly (readonly [planted: string, asked: string])[];

/** A sentence of three words, and a question that says the same in three others. */
function paraphraseFacts(random: Prng, count: number): readonly Fact[] {
  const used = new Set<string>();
  const nameOf = (said: Said): string => plantedOf(said).join(' ');
  // All of them first: no distractor of one may answer another.
  const all = Array.from({ length: count }, () =>
    fresh(used, () => {
      const value = sentenceParts.map((words) => random.pick(words));
      return { key: nameOf(value), value };
    }),
  );
  return all.map((told): Fact => {
    const other = (): Said => {
      const changed = random.below(sentenceParts.length);
      const near = told.map((word, at) => (at === changed ? random.pick(sentenceParts[at] ?? []) : word));
      return used.has(nameOf(near)) ? other() : near;
    };
    return {
      queryClass: 'paraphrase',
      text: questionOf(told),
      need: { words: plantedOf(told) },
      golds: [said(noteOf(told))],
      distractors: Array.from({ length: 5 }, () => said(noteOf(other()))),
    };
  });
}

function plantedOf(told: Said): readonly string[] {
  return told.map(([planted]) => planted);
}

function noteOf(told: Said): string {
  const [who, did, what] = plantedOf(told);
  return `The ${who} ${did} the ${what}.`;
}

/** Shares no word with the note. */
function questionOf(told: Said): string {
  const [who = '', does = '', what = ''] = told.map(([, asked]) => asked);
  const some = (word: string): string => `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
  return `Did ${some(who)} ${does} ${some(what)}?`;
}

function scriptFacts(random: Prng, count: number): readonly Fact[] {
  const used = new Set<string>();
  const all = Array.from({ length: count }, (_, at) => {
    const script = scriptNames[at % scriptNames.length] ?? 'zh';
    const asked = fresh(used, () => {
      const value = random.pickSome(rareWords(script), 3);
      return { key: `${script} ${[...value].sort().join(' ')}`, value };
    });
    return { script, asked };
  });
  return all.map(({ script, asked }): Fact => {
    const words = rareWords(script);
    const others = (): readonly string[] => {
      const kept = random.pickSome(asked, 2);
      const triple = random.shuffled([...kept, random.pick(words.filter((word) => !asked.includes(word)))]);
      return used.has(`${script} ${[...triple].sort().join(' ')}`) ? others() : triple;
    };
    const phrase = (chosen: readonly string[]): string => chosen.join(scripts[script].blank);
    return {
      queryClass: 'script',
      text: phrase(asked),
      need: {
        words: scripts[script].blank === '' ? [phrase(asked)] : asked.map((word) => word.toLowerCase()),
      },
      golds: [said(scriptText(random, script, phrase(asked)))],
      distractors: Array.from({ length: 5 }, () => said(scriptText(random, script, phrase(others())))),
    };
  });
}

/** Those that only facts are made of; filling text has the others. */
function rareWords(script: Script): readonly string[] {
  return scripts[script].words.slice(20);
}

function scriptText(random: Prng, script: Script, phrase: string): string {
  const common = scripts[script].words.slice(0, 20);
  const some = (): string => random.pickSome(common, 4).join(scripts[script].blank);
  return `${some()} 、 ${phrase} 。 ${some()}`;
}

/** What a text of another language is filled with. */
export function scriptFiller(random: Prng): string {
  const script = random.pick(scriptNames);
  const common = scripts[script].words.slice(0, 20);
  return Array.from({ length: random.between(2, 5) }, () =>
    random.pickSome(common, 5).join(scripts[script].blank),
  ).join(' 。 ');
}
