import type { Flag } from '../flag.js';
import { globalFlags } from '../flags.js';
import { type Verb, wordsOf } from '../verb.js';

/** The completion script of fish, made from the table of verbs. */
export function fishCompletion(verbs: readonly Verb[]): string {
  const names = verbs.map(({ name }) => name).join(' ');
  const none = `not __fish_seen_subcommand_from ${names}`;
  const lines = [
    '# fish completion for turnlog: put it into ~/.config/fish/completions/turnlog.fish',
    'complete -c turnlog -f',
    ...verbs.map(
      ({ name, summary }) => `complete -c turnlog -n ${quoted(none)} -a ${name} -d ${quoted(summary)}`,
    ),
    ...globalFlags.map((flag) => `complete -c turnlog ${flagOf(flag)}`),
    ...verbs.flatMap((verb) => linesOf(verb)),
  ];
  return `${lines.join('\n')}\n`;
}

function linesOf(verb: Verb): readonly string[] {
  const { name, flags } = verb;
  const condition = quoted(`__fish_seen_subcommand_from ${name}`);
  const choices = wordsOf(verb);
  const lines = flags.map((flag) => `complete -c turnlog -n ${condition} ${flagOf(flag)}`);
  if (choices.length > 0) lines.push(`complete -c turnlog -n ${condition} -a ${quoted(choices.join(' '))}`);
  return lines;
}

function flagOf(flag: Flag<unknown>): string {
  const name = flag.name.length === 1 ? `-s ${flag.name}` : `-l ${flag.name}`;
  const parts = [name, `-d ${quoted(flag.help)}`];
  if (flag.value !== null) parts.push('-x');
  if (flag.choices !== null) parts.push(`-a ${quoted(flag.choices.join(' '))}`);
  else if (flag.completes === 'directories') parts.push("-a '(__fish_complete_directories)'");
  else if (flag.completes === 'files') parts.push("-a '(__fish_complete_path)'");
  return parts.join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
