import { assert } from '@turnlog/kernel';

/**
 * What the members of an event may hold, as data: one table drives writing (order, defaults, refusals) and
 * reading (flags). The words are those of the contract's notation.
 *
 * | contract | presence | absent | null |
 * |---|---|---|---|
 * | `T` | required | invalid | invalid |
 * | `T?` | optional | unset | unset, not written |
 * | `T=v` | defaulted | `v`, written | invalid |
 * | `T~v` | lenient | `v`, written | `v`, written |
 * | `T\|null` | nullable | invalid | written |
 */
export type Presence = 'required' | 'optional' | 'defaulted' | 'lenient' | 'nullable';

/** A flag for a value that is not listed: kept, and never an error. */
export type UnknownFlag = 'unknown-type' | 'unknown-item' | 'unknown-enum';

export interface IntegerRule {
  readonly kind: 'integer';
  readonly name: string;
  readonly least: bigint;
  readonly most: bigint;
}

/** What a writer keeps to; longer lists of others are read all the same. */
export interface ListBounds {
  readonly itemsMax: number;
  /** The longest text in the list, in UTF-8. */
  readonly itemBytesMax?: number;
  /** The JSON text of the whole list, in UTF-8. */
  readonly bytesMax?: number;
}

export interface ListRule {
  readonly kind: 'list';
  readonly element: AnyRule;
  readonly bounds: ListBounds | null;
}

export interface MemberRule {
  readonly name: string;
  readonly presence: Presence;
  readonly rule: AnyRule;
  /** JSON text of the default; null when there is none, or when an empty value is not written. */
  readonly fallback: string | null;
  /** An empty list is left out like an absent one. */
  readonly isOmittedWhenEmpty: boolean;
}

export interface ObjectRule {
  readonly kind: 'object';
  readonly members: readonly MemberRule[];
  /** Position in `members` by name. */
  readonly positions: ReadonlyMap<string, number>;
}

/** An object whose member `type` says which members it has. */
export interface TaggedRule {
  readonly kind: 'tagged';
  readonly variants: ReadonlyMap<string, ObjectRule>;
  /** What holds for a type that is not listed. */
  readonly other: ObjectRule;
  readonly unknownFlag: UnknownFlag;
  /** Types that are known although their members are not listed. */
  readonly isKnown: (type: string) => boolean;
}

export type AnyRule =
  | { readonly kind: 'any' }
  | { readonly kind: 'text' }
  | { readonly kind: 'flag' }
  | { readonly kind: 'number' }
  | IntegerRule
  | { readonly kind: 'choice'; readonly values: ReadonlySet<string>; readonly unknownFlag: UnknownFlag }
  | ListRule
  | { readonly kind: 'map'; readonly element: AnyRule }
  | ObjectRule
  | TaggedRule;

/** A rule for values of `T`; `of` is never there and only ties rule and type together. */
export type Rule<T> = AnyRule & { readonly of?: (value: T) => T };

type Member<P extends Presence, T> = Omit<MemberRule, 'name' | 'presence' | 'rule'> & {
  readonly presence: P;
  readonly rule: Rule<T>;
};

type MemberOf<T, K extends keyof T> = unknown extends T[K]
  ? Member<'required' | 'optional', unknown>
  : Record<never, never> extends Pick<T, K>
    ? null extends T[K]
      ? Member<'optional' | 'lenient', NonNullable<T[K]>>
      : Member<'defaulted', NonNullable<T[K]>>
    : null extends T[K]
      ? Member<'nullable', NonNullable<T[K]>>
      : Member<'required', T[K]>;

/** One rule for every member of `T` but `type`, and none for anything else. The order is that of writing. */
export type Shape<T> = { readonly [K in keyof Omit<T, 'type'>]-?: MemberOf<T, K & keyof T> };

export const any: Rule<unknown> = { kind: 'any' };
export const text: Rule<string> = { kind: 'text' };
export const flag: Rule<boolean> = { kind: 'flag' };
export const num: Rule<number> = { kind: 'number' };
export const u8: Rule<number> = { kind: 'integer', name: 'u8', least: 0n, most: 255n };
export const u32: Rule<number> = { kind: 'integer', name: 'u32', least: 0n, most: 4_294_967_295n };
export const u64: Rule<number> = {
  kind: 'integer',
  name: 'u64',
  least: 0n,
  most: 18_446_744_073_709_551_615n,
};
export const positiveU64: Rule<number> = {
  kind: 'integer',
  name: 'u64 from 1',
  least: 1n,
  most: 18_446_744_073_709_551_615n,
};
export const i32: Rule<number> = {
  kind: 'integer',
  name: 'i32',
  least: -2_147_483_648n,
  most: 2_147_483_647n,
};

export function choice<Values extends readonly string[]>(
  values: Values,
  unknownFlag: UnknownFlag = 'unknown-enum',
): Rule<Values[number] | (string & Record<never, never>)> {
  return { kind: 'choice', values: new Set(values), unknownFlag };
}

export function list<T>(element: Rule<T>): Rule<readonly T[]> {
  return { kind: 'list', element, bounds: null };
}

/** A list of which a writer makes no more than `bounds` allow. */
export function boundedList<T>(element: Rule<T>, bounds: ListBounds): Rule<readonly T[]> {
  return { kind: 'list', element, bounds };
}

/** An object with names of any kind, written in the order of their bytes. */
export function map<T>(element: Rule<T>): Rule<Readonly<Record<string, T>>> {
  return { kind: 'map', element };
}

export function required<T>(rule: Rule<T>): Member<'required', T> {
  return { presence: 'required', rule, fallback: null, isOmittedWhenEmpty: false };
}

export function optional<T>(rule: Rule<T>): Member<'optional', T> {
  return { presence: 'optional', rule, fallback: null, isOmittedWhenEmpty: false };
}

export function nullable<T>(rule: Rule<T>): Member<'nullable', T> {
  return { presence: 'nullable', rule, fallback: null, isOmittedWhenEmpty: false };
}

/** `T=v`; `fallback` is JSON text. */
export function defaulted<T>(rule: Rule<T>, fallback: string): Member<'defaulted', T> {
  return { presence: 'defaulted', rule, fallback, isOmittedWhenEmpty: false };
}

/** `T~v`; `fallback` is JSON text. */
export function lenient<T>(rule: Rule<T>, fallback: string): Member<'lenient', T> {
  return { presence: 'lenient', rule, fallback, isOmittedWhenEmpty: false };
}

/** A list `~[]` that is left out when empty. */
export function omittedWhenEmpty<T>(rule: Rule<readonly T[]>): Member<'lenient', readonly T[]> {
  return { presence: 'lenient', rule, fallback: null, isOmittedWhenEmpty: true };
}

type NamedMembers = Readonly<Record<string, Omit<MemberRule, 'name'>>>;

function membersOf(shape: NamedMembers): readonly MemberRule[] {
  return Object.entries(shape).map(([name, member]) => ({ name, ...member }));
}

const typeMember: MemberRule = { name: 'type', ...required(text) };

/** `before`, then the members of `shape`. */
function objectOf(before: readonly MemberRule[], shape: NamedMembers): ObjectRule {
  const members = [...before, ...membersOf(shape)];
  assert(members.length < 32, 'a reader keeps one bit for each member');
  return {
    kind: 'object',
    members,
    positions: new Map(members.map((member, position) => [member.name, position])),
  };
}

export function object<T>(shape: Shape<T>): Rule<T> {
  return objectOf([], shape as NamedMembers);
}

/** Members of `head`, then `type`, then those of the type's own shape. */
export function tagged<Union extends { readonly type: string }, Head>(
  head: Shape<Head>,
  shapes: {
    readonly [Type in Union['type']]: Shape<Omit<Extract<Union, { readonly type: Type }>, keyof Head>>;
  },
  unknownFlag: UnknownFlag,
  isKnown: (type: string) => boolean = () => false,
): TaggedRule {
  const before = [...membersOf(head as NamedMembers), typeMember];
  const entries = Object.entries(shapes as Readonly<Record<string, NamedMembers>>);
  return {
    kind: 'tagged',
    variants: new Map(entries.map(([type, shape]) => [type, objectOf(before, shape)])),
    other: objectOf(before, {}),
    unknownFlag,
    isKnown,
  };
}
