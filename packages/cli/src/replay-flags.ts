import type { MatchMode, TurnRange } from '@turnlog/replay';
import { badFlag, choiceFlag, countFlag, type Flag, namesOf, switchFlag, textFlag } from './flag.js';

/** The flags of `fixture` and `replay`, each once. Of what they are about only the types: a start loads no replay. */

/** Complete by its type: a new mode does not compile without its name. */
const matchModes: Readonly<Record<MatchMode, true>> = { strict: true, keyed: true, loose: true };

export const turnsFlag: Flag<TurnRange> = {
  ...textFlag('turns', 'A..B', 'turns A to B only'),
  read: (texts) => {
    const text = texts.at(-1) ?? '';
    const [, from = '', to = from] = /^([1-9]\d{0,8})(?:\.\.([1-9]\d{0,8}))?$/.exec(text) ?? [];
    const range = { from: Number(from), to: Number(to) };
    if (from !== '' && range.from <= range.to) return range;
    throw badFlag(`--turns takes A..B, two turns in their order, not ${JSON.stringify(text)}`, {
      flag: 'turns',
    });
  },
};
export const fixtureDirectoryFlag: Flag<string> = textFlag(
  'out',
  'DIR',
  'the fixture itself; by default a directory of its name here',
  'directories',
);
export const fixtureNameFlag: Flag<string> = textFlag(
  'name',
  'N',
  'what the fixture is called; by default as the session',
);
export const strictFixtureFlag: Flag<true> = switchFlag('strict', 'make none of a session that has gaps');
export const moduleFlag: Flag<string> = textFlag(
  'module',
  'FILE',
  'the module with the code under test',
  'files',
);
export const exportNameFlag: Flag<string> = textFlag(
  'export',
  'NAME',
  'the function in it that is given the player; run unless said otherwise',
);
export const untilSeqFlag: Flag<number> = countFlag(
  'until',
  'SEQ',
  'end in front of the first record behind SEQ',
  1,
);
export const matchFlag: Flag<MatchMode> = choiceFlag(
  'match',
  namesOf(matchModes),
  'how requests find their recorded answers',
);
export const goodRevisionFlag: Flag<string> = textFlag(
  'good',
  'REV',
  'bisect: a commit at which the code does not diverge',
);
export const badRevisionFlag: Flag<string> = textFlag('bad', 'REV', 'bisect: a commit at which it does');
export const numericFlag: Flag<true> = switchFlag('numeric', 'compare numbers by value: 1 and 1.0 are equal');
export const shrinkFlag: Flag<true> = switchFlag('shrink', 'name the fewest last turns that diverge alike');
