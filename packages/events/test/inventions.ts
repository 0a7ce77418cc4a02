import type { AnyRule, MemberRule, ObjectRule, TaggedRule } from '../src/shape.js';

/** A value that keeps to a rule but for one thing that no table knows. */
export interface Invention {
  /** Names on the way to it, the types of tagged objects in brackets. */
  readonly place: string;
  readonly kind: 'enum' | 'type' | 'member';
  readonly value: unknown;
}

export const invented = 'invented';

/** The least value that keeps to a rule. */
export function sampleOf(rule: AnyRule): unknown {
  switch (rule.kind) {
    case 'any':
    case 'number':
      return 1;
    case 'text':
      return 't';
    case 'flag':
      return true;
    case 'integer':
      return Math.max(Number(rule.least), 0);
    case 'choice':
      return [...rule.values][0];
    case 'list':
      return [];
    case 'map':
      return {};
    case 'object':
      return objectOf(rule, null);
    case 'tagged':
      return variantsOf(rule)[0]?.value;
  }
}

function isNeeded(member: MemberRule): boolean {
  return member.presence === 'required' || member.presence === 'nullable';
}

/** The members that an object needs, and in `changed` what one of them is to be. */
function objectOf(
  rule: ObjectRule,
  changed: readonly [name: string, value: unknown] | null,
): Record<string, unknown> {
  const entries = rule.members.flatMap((member) => {
    if (changed?.[0] === member.name) return [[member.name, changed[1]] as const];
    return isNeeded(member) ? [[member.name, sampleOf(member.rule)] as const] : [];
  });
  const isFurther = changed !== null && !rule.positions.has(changed[0]);
  return Object.fromEntries(isFurther ? [...entries, changed] : entries);
}

function variantsOf(
  rule: TaggedRule,
): readonly { type: string; rule: ObjectRule; value: Record<string, unknown> }[] {
  return [...rule.variants].map(([type, variant]) => {
    return { type, rule: variant, value: objectOf(variant, ['type', type]) };
  });
}

/** Everything that can be invented below a rule: enum values, types and members, one at a time. */
export function inventionsOf(rule: AnyRule, place = ''): readonly Invention[] {
  switch (rule.kind) {
    case 'choice':
      return [{ place, kind: 'enum', value: invented }];
    case 'list':
      return inventionsOf(rule.element, `${place}[]`).map((found) => ({ ...found, value: [found.value] }));
    case 'map':
      return inventionsOf(rule.element, `${place}{}`).map((found) => ({
        ...found,
        value: { m: found.value },
      }));
    case 'object':
      return membersOf(rule, place, null);
    case 'tagged':
      return [
        { place, kind: 'type', value: objectOf(rule.other, ['type', invented]) },
        ...variantsOf(rule).flatMap(({ type, rule: variant }) =>
          membersOf(variant, `${place}<${type}>`, type),
        ),
      ];
    default:
      return [];
  }
}

function membersOf(rule: ObjectRule, place: string, type: string | null): readonly Invention[] {
  const typed = (value: Record<string, unknown>): Record<string, unknown> =>
    type === null ? value : { ...value, type };
  const inner = rule.members.flatMap((member) =>
    inventionsOf(member.rule, `${place} ${member.name}`).map((found) => ({
      ...found,
      value: typed(objectOf(rule, [member.name, found.value])),
    })),
  );
  return [
    { place, kind: 'member', value: typed(objectOf(rule, [invented, { kept: [invented, null] }])) },
    ...inner,
  ];
}
