import type { Context } from '../command.js';
import { bashCompletion } from '../completion/bash.js';
import { fishCompletion } from '../completion/fish.js';
import { powershellCompletion } from '../completion/powershell.js';
import { zshCompletion } from '../completion/zsh.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import type { Verb } from '../verb.js';

const scripts: ReadonlyMap<string, (verbs: readonly Verb[]) => string> = new Map([
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
  ['powershell', powershellCompletion],
]);

/** Prints the completion script of a shell. Ids are not completed: they would have to be looked up. */
export async function completion({ args, output, verbs }: Context): Promise<number> {
  const [shell = ''] = args.positionals;
  const script = scripts.get(shell);
  if (script === undefined) throw badFlag(`there is no completion for ${JSON.stringify(shell)}`, { shell });
  if (output.form === 'text') await output.exactly(Buffer.from(script(verbs)));
  else await output.document({ shell, script: script(verbs) });
  return exits.done;
}
