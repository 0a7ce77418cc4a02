/** Schemas by the names of their files, as JSON has them. */
export type SchemaSet = ReadonlyMap<string, unknown>;

/**
 * Who would be broken: `written` is what we write and others read, `read` is what others write and we read. What is
 * promised to a reader may be narrowed and not widened, what is accepted from a writer the other way round.
 */
export type Direction = 'written' | 'read';

export interface SchemaBreak {
  /** File and JSON pointer of what it is about, as in `show.json/records/[]/seq`. */
  readonly place: string;
  readonly what:
    | 'removed'
    | 'retyped'
    | 'no longer promised'
    | 'newly required'
    | 'other values'
    | 'other text'
    | 'closed'
    | 'another alternative';
}

type Schema = Readonly<Record<string, unknown>>;

/** A schema and the file that its references start from. */
interface Located {
  readonly set: SchemaSet;
  readonly file: string;
  readonly schema: Schema;
}

interface Pair {
  readonly place: string;
  readonly before: Located;
  readonly after: Located;
  readonly direction: Direction;
}

/** What in `after` breaks somebody who keeps to `before`. Nothing does where members were only added. Pure. */
export function schemaBreaks(
  before: SchemaSet,
  after: SchemaSet,
  directionOf: (file: string) => Direction,
): readonly SchemaBreak[] {
  return [...before.keys()].flatMap((file): readonly SchemaBreak[] => {
    const now = after.get(file);
    if (now === undefined) return [{ place: file, what: 'removed' }];
    const [old, young] = [objectOf(before.get(file)), objectOf(now)];
    const pair = (place: string, from: Schema, to: Schema): Pair => ({
      place,
      before: { set: before, file, schema: from },
      after: { set: after, file, schema: to },
      direction: directionOf(file),
    });
    const [oldLine, line] = [old, young].map((schema) => objectOf(schema['$defs'])['line']);
    const breaks = isEmpty(old) ? [] : compared(pair(file, old, young));
    if (oldLine === undefined) return breaks;
    if (line === undefined) return [...breaks, { place: `${file}#line`, what: 'removed' }];
    return [...breaks, ...compared(pair(`${file}#line`, objectOf(oldLine), objectOf(line)))];
  });
}

/** A file of definitions only says nothing by itself. */
function isEmpty(schema: Schema): boolean {
  return ['type', 'anyOf', '$ref', 'properties', 'const', 'enum'].every((name) => schema[name] === undefined);
}

function compared(pair: Pair): readonly SchemaBreak[] {
  const { place, direction } = pair;
  const before = alternativesOf(pair.before);
  const after = alternativesOf(pair.after);
  const breaks = before.flatMap((old, index): readonly SchemaBreak[] => {
    const young = after[index];
    if (young === undefined) return direction === 'read' ? [{ place: branch(index), what: 'removed' }] : [];
    return comparedOne({ place: branch(index), before: old, after: young, direction });
  });
  const isWider = direction === 'written' && after.length > before.length;
  return isWider ? [...breaks, { place, what: 'another alternative' }] : breaks;

  function branch(index: number): string {
    return before.length === 1 && after.length === 1 ? place : `${place}(${index + 1})`;
  }
}

/** What a schema may be, each without references. */
function alternativesOf({ set, file, schema }: Located): readonly Located[] {
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const [name = '', pointer = ''] = reference.split('#');
    const target = name === '' ? file : name;
    return alternativesOf({ set, file: target, schema: objectOf(at(set.get(target), pointer)) });
  }
  const branches = schema['anyOf'];
  if (!Array.isArray(branches)) return [{ set, file, schema }];
  return branches.flatMap((branch) => alternativesOf({ set, file, schema: objectOf(branch) }));
}

function at(schema: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce<unknown>((value, name) => objectOf(value)[name], schema);
}

function comparedOne(pair: Pair): readonly SchemaBreak[] {
  const { place, before, after, direction } = pair;
  const [old, young] = [before.schema, after.schema];
  const breaks: SchemaBreak[] = [];
  if (isGrown(typesOf(old), typesOf(young), direction)) breaks.push({ place, what: 'retyped' });
  else if (isGrown(valuesOf(old), valuesOf(young), direction)) breaks.push({ place, what: 'other values' });
  if (textRulesOf(old) !== textRulesOf(young)) breaks.push({ place, what: 'other text' });
  if (
    direction === 'read' &&
    old['additionalProperties'] !== false &&
    young['additionalProperties'] === false
  )
    breaks.push({ place, what: 'closed' });
  return [...breaks, ...comparedMembers(pair), ...comparedInner(pair)];
}

function comparedMembers({ place, before, after, direction }: Pair): readonly SchemaBreak[] {
  const [old, young] = [objectOf(before.schema['properties']), objectOf(after.schema['properties'])];
  const [must, mustNow] = [listOf(before.schema['required']), listOf(after.schema['required'])];
  const breaks: SchemaBreak[] = [];
  for (const name of Object.keys(old)) {
    const inner = `${place}/${name}`;
    if (young[name] === undefined) {
      breaks.push({ place: inner, what: 'removed' });
      continue;
    }
    if (direction === 'written' && must.includes(name) && !mustNow.includes(name))
      breaks.push({ place: inner, what: 'no longer promised' });
    breaks.push(...compared(step(inner, old[name], young[name])));
  }
  if (direction === 'written') return breaks;
  const added = mustNow.filter((name) => !must.includes(name));
  return [
    ...breaks,
    ...added.map((name) => ({ place: `${place}/${name}`, what: 'newly required' }) as const),
  ];

  function step(inner: string, from: unknown, to: unknown): Pair {
    return {
      place: inner,
      before: { ...before, schema: objectOf(from) },
      after: { ...after, schema: objectOf(to) },
      direction,
    };
  }
}

/** Elements of lists, and members of any name. */
function comparedInner({ place, before, after, direction }: Pair): readonly SchemaBreak[] {
  return (['items', 'additionalProperties'] as const).flatMap((name) => {
    const [old, young] = [before.schema[name], after.schema[name]];
    if (typeof old !== 'object' || old === null) return [];
    return compared({
      place: `${place}/${name === 'items' ? '[]' : '*'}`,
      before: { ...before, schema: objectOf(old) },
      after: { ...after, schema: objectOf(young) },
      direction,
    });
  });
}

/** Whether one who keeps to the old list meets what is not in it; null stands for everything. */
function isGrown(
  old: readonly string[] | null,
  young: readonly string[] | null,
  direction: Direction,
): boolean {
  const [least, most] = direction === 'written' ? [young, old] : [old, young];
  if (most === null) return false;
  return least === null || least.some((value) => !most.includes(value));
}

function typesOf(schema: Schema): readonly string[] | null {
  const type = schema['type'];
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return listOf(type);
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  return Array.isArray(values) ? [...new Set(values.map(typeOfValue))] : null;
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function valuesOf(schema: Schema): readonly string[] | null {
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : null;
}

/** What a text must look like, and how large a number or list may be: any change of it may break somebody. */
function textRulesOf(schema: Schema): string {
  const names = ['pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'maxItems', 'minItems', 'format'];
  return JSON.stringify(names.map((name) => schema[name] ?? null));
}

function objectOf(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
