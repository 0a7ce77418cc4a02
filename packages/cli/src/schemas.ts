import { subVerbsOf, type Verb } from './verb.js';

/** Where the schemas lie in the npm package. */
const folder = 'schemas';

function pathOf(name: string): string {
  return `${folder}/${name}.json`;
}

/** The schemas of what a verb prints with --json, one for each thing it does; `$defs/line` is a line of --jsonl. */
export function schemaPathsOf(verb: Verb): readonly string[] {
  const subVerbs = subVerbsOf(verb);
  return subVerbs.length === 0 ? [pathOf(verb.name)] : subVerbs.map((sub) => pathOf(`${verb.name}-${sub}`));
}

/** The schemas of what belongs to no verb. */
export const otherSchemaPaths: Readonly<Record<'error' | 'progress' | 'config_file', string>> = {
  error: pathOf('error'),
  progress: pathOf('progress'),
  config_file: pathOf('config-file'),
};
