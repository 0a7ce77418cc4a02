import { passThrough } from '@turnlog/store';
import { type Flag, writtenFlag } from './flag.js';
import { globalFlags } from './flags.js';
import { type Shown, Wording } from './output/shown.js';
import { padText, textWidth } from './output/width.js';
import { usageOf, type Verb } from './verb.js';
import { version } from './version.js';

// Only what the program says about itself: nothing of it comes from a store.
const { shown } = new Wording(passThrough);

export function versionLines(): readonly Shown[] {
  return [shown`turnlog ${version}`];
}

/** What the program is and which verbs it has. */
export function programHelp(verbs: readonly Verb[]): readonly Shown[] {
  return [
    shown`turnlog - the flight recorder for coding agents`,
    shown``,
    shown`usage: turnlog VERB [ARGUMENT…] [FLAG…]`,
    shown``,
    ...twoColumns(verbs.map((verb) => [usageOf(verb), verb.summary])),
    shown``,
    shown`flags of every verb:`,
    ...flagLines(globalFlags),
    shown``,
    shown`turnlog VERB --help says more about a verb.`,
  ];
}

export function verbHelp(verb: Verb): readonly Shown[] {
  const own = verb.flags.length === 0 ? [] : [shown``, shown`flags:`, ...flagLines(verb.flags)];
  return [
    shown`usage: turnlog ${usageOf(verb)}${verb.flags.length === 0 ? '' : ' [FLAG…]'}`,
    shown``,
    shown`  ${verb.summary}`,
    ...own,
    shown``,
    shown`flags of every verb:`,
    ...flagLines(globalFlags),
  ];
}

function flagLines(flags: readonly Flag<unknown>[]): readonly Shown[] {
  return twoColumns(
    flags.map((flag) => [`${writtenFlag(flag)}${flag.value === null ? '' : ` ${flag.value}`}`, flag.help]),
  );
}

function twoColumns(rows: readonly (readonly [left: string, right: string])[]): readonly Shown[] {
  const width = Math.max(...rows.map(([left]) => textWidth(left)));
  return rows.map(([left, right]) => shown`  ${padText(left, width)}  ${right}`);
}
