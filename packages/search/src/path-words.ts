/** Endings of names by which a word of a command is taken for a file. */
const extensions: ReadonlySet<string> = new Set(
  `astro bash bat bazel bib bin c cc cfg cjs clj cmake conf config cpp cs css csv cts cxx dart db diff env erl ex exs
   fish fs gif go gradle graphql h hcl hpp hrl hs htm html hxx ini ipynb java jl jpeg jpg js json json5 jsonc jsonl
   jsx kt kts less lock log lua m make md mdx mjs mk ml mli mm mts ndjson nim nix patch pdf php pl pm png proto ps1 py
   pyi r rb rs rst sass sbt scala scss sh sol sql sqlite styl svelte svg swift tex tf tfvars toml ts tsv tsx txt vim
   vue wasm xml yaml yml zig zsh`.split(/\s+/u),
);

/** Words of a command that look like paths (SE-38): with a `/`, or with the ending of a file. */
export function pathWords(command: string): readonly string[] {
  // What a shell parts words at, and `=` of flags such as --file=a.ts.
  return command.split(/[\s"'`;|&<>(){}=,$]+/u).filter(isPathWord);
}

function isPathWord(word: string): boolean {
  if (word.includes('://') || !/[\p{L}\p{N}]/u.test(word)) return false;
  const name = word.slice(word.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  const hasExtension = dot > 0 && extensions.has(name.slice(dot + 1).toLowerCase());
  return hasExtension || (word.includes('/') && !word.startsWith('-'));
}
