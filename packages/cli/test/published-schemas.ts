import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

const published = resolve(__dirname, '../schemas');

/** The schemas of the npm package, or of a release, by the names of their files. */
export function readSchemas(folder: string = published): ReadonlyMap<string, unknown> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return new Map(names.map((name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8'))]));
}

/**
 * The same schema, by which a member that it does not name is wrong. Those who read our documents must bear new
 * members, so what is published is open; what we print must be in it.
 */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.entries(schema).map(([name, value]) => [name, closed(value)]);
  const copy = Object.fromEntries(members);
  const isObject = Reflect.get(schema, 'type') === 'object' && !('additionalProperties' in schema);
  return isObject ? { ...copy, additionalProperties: false } : copy;
}

export type Form = 'open' | 'closed';

function validatorOf(form: Form): Ajv2020 {
  const validator = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: false });
  for (const [name, schema] of readSchemas()) {
    const used = form === 'closed' ? closed(schema) : schema;
    if (typeof used !== 'object' || used === null) throw new Error(`${name} holds no schema`);
    validator.addSchema(used, name);
  }
  return validator;
}

const validators: Readonly<Record<Form, Ajv2020>> = {
  open: validatorOf('open'),
  closed: validatorOf('closed'),
};

/** What is wrong with a value by the schema at `reference`, as `show.json` or `show.json#/$defs/line`; [] if nothing. */
export function faultsOf(reference: string, value: unknown, form: Form = 'closed'): readonly string[] {
  const validate = validators[form].getSchema(reference);
  if (validate === undefined) return [`there is no schema ${reference}`];
  if (validate(value) === true) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath}: ${message ?? ''} ${JSON.stringify(params)}`,
  );
}

/**
 * Whether everything that `old` says is said by `now`: members may have come, nothing may have gone or changed. Lists
 * of what has a name may have grown.
 */
export function isContained(old: unknown, now: unknown): boolean {
  if (typeof old !== 'object' || old === null) return Object.is(old, now);
  if (typeof now !== 'object' || now === null || Array.isArray(old) !== Array.isArray(now)) return false;
  if (!Array.isArray(old) || !Array.isArray(now)) {
    return Object.entries(old).every(([name, value]) => isContained(value, Reflect.get(now, name)));
  }
  if (old.length === now.length && old.every((item, index) => isContained(item, now[index]))) return true;
  return old.every((item) => {
    const name = nameOf(item);
    return (
      name !== null &&
      isContained(
        item,
        now.find((candidate) => nameOf(candidate) === name),
      )
    );
  });
}

function nameOf(item: unknown): string | null {
  if (typeof item === 'string') return item;
  if (typeof item !== 'object' || item === null) return null;
  const name: unknown = Reflect.get(item, 'name') ?? Reflect.get(item, 'code');
  return typeof name === 'string' ? name : null;
}
