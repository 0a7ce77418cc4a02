import { writtenFlag } from '../flag.js';
import { globalFlags } from '../flags.js';
import { type Verb, wordsOf } from '../verb.js';

/** The completion script of PowerShell, made from the table of verbs. */
export function powershellCompletion(verbs: readonly Verb[]): string {
  const entries = verbs.map((verb) => {
    const offered = [...wordsOf(verb), ...verb.flags.map(writtenFlag)];
    return `    ${quoted(verb.name)} = @(${offered.map(quoted).join(', ')})`;
  });
  return `# PowerShell completion for turnlog: add it to your profile
Register-ArgumentCompleter -Native -CommandName turnlog -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $always = @(${globalFlags.map(writtenFlag).map(quoted).join(', ')})
  $verbs = [ordered]@{
${entries.join('\n')}
  }
  $verb = $commandAst.CommandElements | Select-Object -Skip 1 |
    ForEach-Object { $_.ToString() } | Where-Object { $verbs.Contains($_) } | Select-Object -First 1
  if ($verb -and $verb -ne $wordToComplete) { $candidates = $verbs[$verb] + $always }
  else { $candidates = @($verbs.Keys) + $always }
  $candidates | Where-Object { $_ -like "$wordToComplete*" } | Sort-Object -Unique -CaseSensitive |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
