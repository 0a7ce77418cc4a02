import { type Flag, writtenFlag } from '../flag.js';
import { globalFlags } from '../flags.js';
import type { Positional, Verb } from '../verb.js';

/** The completion script of zsh, made from the table of verbs. */
export function zshCompletion(verbs: readonly Verb[]): string {
  const descriptions = verbs.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n');
  const cases = verbs.map(({ name, flags, positionals, variants }) => {
    const given = variants === undefined ? positionals : [variantOf(variants), ...positionals];
    const specs = [...globalFlags, ...flags].map(specOf).concat(given.map(argumentOf));
    return `    ${name}) _arguments ${specs.join(' ')} ;;`;
  });
  return `#compdef turnlog
# zsh completion for turnlog: put it into a directory of $fpath under the name _turnlog
_turnlog() {
  local -a verbs
  verbs=(
${descriptions}
  )
  if (( CURRENT == 2 )); then
    if [[ "\${words[2]}" == -* ]]; then
      _arguments ${globalFlags.map(specOf).join(' ')}
    else
      _describe 'verb' verbs
    fi
    return
  fi
  local verb="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$verb" in
${cases.join('\n')}
  esac
}
if [[ "\${funcstack[1]}" == "_turnlog" ]]; then _turnlog "$@"; else compdef _turnlog turnlog; fi
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Brackets and colons mean something in the specification of a flag. */
function plain(text: string): string {
  return text.replace(/[[\]:\\]/g, (character) => `\\${character}`);
}

function specOf(flag: Flag<unknown>): string {
  const head = `${writtenFlag(flag)}[${plain(flag.help)}]`;
  if (flag.value === null) return quoted(head);
  return quoted(`${head}:${plain(flag.value)}:${actionOf(flag)}`);
}

function actionOf(flag: Flag<unknown>): string {
  if (flag.choices !== null) return `(${flag.choices.join(' ')})`;
  if (flag.completes === 'directories') return '_files -/';
  return flag.completes === 'files' ? '_files' : '';
}

/** A word that may stand first, where the argument may stand as well. */
function variantOf(variants: readonly string[]): Pick<Positional, 'name' | 'choices' | 'presence'> {
  return { name: variants.join('|'), choices: variants, presence: 'optional' };
}

function argumentOf(
  { name, choices, presence }: Pick<Positional, 'name' | 'choices' | 'presence'>,
  index: number,
): string {
  const place = presence === 'repeated' ? '*' : String(index + 1);
  const colon = presence === 'optional' ? '::' : ':';
  return quoted(`${place}${colon}${plain(name)}:${choices === null ? '' : `(${choices.join(' ')})`}`);
}
