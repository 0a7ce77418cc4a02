import { type Flag, writtenFlag } from '../flag.js';
import { globalFlags } from '../flags.js';
import { type Verb, wordsOf } from '../verb.js';

/** The completion script of bash, made from the table of verbs. */
export function bashCompletion(verbs: readonly Verb[]): string {
  const cases = verbs.map(
    (verb) => `    ${verb.name}) flags="${words(verb.flags)}"; arguments="${wordsOf(verb).join(' ')}" ;;`,
  );
  const values = valueCases([...globalFlags, ...verbs.flatMap(({ flags }) => flags)]);
  return `# bash completion for turnlog: source this, or put it where bash looks for completions
_turnlog() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" verb="" flags="" arguments="" each
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$each" in ${verbs.map(({ name }) => name).join('|')}) verb="$each"; break ;; esac
  done
  case "$before" in
${values}
  esac
  case "$verb" in
${cases.join('\n')}
    *) arguments="${verbs.map(({ name }) => name).join(' ')}" ;;
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags ${words(globalFlags)}" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$arguments" -- "$word")) ;;
  esac
}
complete -o bashdefault -F _turnlog turnlog
`;
}

function words(flags: readonly Flag<unknown>[]): string {
  return flags.map(writtenFlag).join(' ');
}

/** What follows a flag that takes a value; of two flags of one name the choices of both are offered. */
function valueCases(flags: readonly Flag<unknown>[]): string {
  const choices = new Map<string, Set<string>>();
  const actions = new Map<string, string>();
  for (const flag of flags) {
    const written = writtenFlag(flag);
    if (flag.choices !== null) {
      const known = choices.get(written) ?? new Set();
      for (const choice of flag.choices) known.add(choice);
      choices.set(written, known);
      actions.set(written, `COMPREPLY=($(compgen -W "${[...known].join(' ')}" -- "$word"))`);
    } else if (flag.completes === 'directories') actions.set(written, 'COMPREPLY=($(compgen -d -- "$word"))');
    else if (flag.completes === 'files') actions.set(written, 'COMPREPLY=($(compgen -f -- "$word"))');
    else if (flag.value !== null) actions.set(written, 'COMPREPLY=()');
  }
  return [...actions].map(([written, action]) => `    ${written}) ${action}; return ;;`).join('\n');
}
