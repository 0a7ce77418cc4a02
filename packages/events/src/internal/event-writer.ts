import { limits, TurnlogError } from '@turnlog/kernel';
import type { AnyRule, IntegerRule, ListRule, MemberRule, ObjectRule, TaggedRule } from '../shape.js';
import { compareCodePoints } from './code-point-order.js';
import { pointerOf } from './json-pointer.js';
import { utf8ByteLength } from './text-codec.js';

/**
 * The careful path of writing: the JSON text of a value under a rule, members in the order of the table,
 * defaults filled in, unset members left out. Refuses what JSON would silently change (C-3) and what the rule
 * does not allow, and says where.
 */

type Holder = Readonly<Record<string, unknown>>;

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Objects that JSON would write as `{}` or as something else than they are. */
const opaqueTags: ReadonlySet<string> = new Set([
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'WeakRef',
  'Promise',
  'RegExp',
  'Error',
  'ArrayBuffer',
  'SharedArrayBuffer',
  'DataView',
]);

function isOpaque(value: object): boolean {
  return ArrayBuffer.isView(value) || opaqueTags.has(Object.prototype.toString.call(value).slice(8, -1));
}

/** The value that JSON takes in place of an object that says so itself (`toJSON`, boxed values). */
function resolved(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const toJson: unknown = Reflect.get(value, 'toJSON');
  const given: unknown = typeof toJson === 'function' ? Reflect.apply(toJson, value, [name]) : value;
  if (given instanceof Number || given instanceof String || given instanceof Boolean) return given.valueOf();
  return given instanceof BigInt ? BigInt.prototype.valueOf.call(given) : given;
}

class EventWriter {
  readonly #names: (string | number)[] = [];
  readonly #open: object[] = [];
  #characters = 0;

  write(event: unknown, rule: AnyRule): string {
    return this.#value(resolved(event, ''), rule);
  }

  #refuse(rule: string): never {
    throw new TurnlogError('TURNLOG_INVALID_EVENT', { details: { place: pointerOf(this.#names), rule } });
  }

  /** Every value ends here as text, so that a value that cannot fit into a line ends early. */
  #counted(text: string): string {
    this.#characters += text.length;
    if (this.#characters <= limits.writerLineBytesMax) return text;
    throw new TurnlogError('TURNLOG_RECORD_TOO_LARGE', {
      details: { lineBytesMax: limits.writerLineBytesMax },
    });
  }

  #enter(value: object): void {
    if (this.#open.includes(value)) this.#refuse('cycle');
    // The envelope is level 1, so the first container that is entered here is level 2.
    if (this.#open.length + 2 > limits.writerNestingLevelsMax) {
      throw new TurnlogError('TURNLOG_TOO_DEEP', {
        details: { nestingLevelsMax: limits.writerNestingLevelsMax },
      });
    }
    this.#open.push(value);
  }

  #value(value: unknown, rule: AnyRule): string {
    switch (rule.kind) {
      case 'any':
        return this.#any(value);
      case 'text':
      case 'choice':
        return typeof value === 'string' ? this.#any(value) : this.#refuse('str');
      case 'flag':
        return typeof value === 'boolean' ? this.#any(value) : this.#refuse('bool');
      case 'number':
        return typeof value === 'number' || typeof value === 'bigint'
          ? this.#any(value)
          : this.#refuse('num');
      case 'integer':
        return this.#integer(value, rule);
      case 'list':
        return Array.isArray(value) ? this.#boundedList(value, rule) : this.#refuse('list');
      case 'map':
        return this.#map(this.#holder(value), rule.element);
      case 'object':
        return this.#object(this.#holder(value), rule);
      case 'tagged':
        return this.#tagged(this.#holder(value), rule);
    }
  }

  #holder(value: unknown): Holder {
    if (!isHolder(value) || isOpaque(value)) return this.#refuse('object');
    return value;
  }

  #integer(value: unknown, rule: IntegerRule): string {
    const whole = typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
    if (typeof whole !== 'bigint' || whole < rule.least || whole > rule.most) return this.#refuse(rule.name);
    return this.#counted(String(whole));
  }

  #any(value: unknown): string {
    switch (typeof value) {
      case 'string':
        return this.#counted(JSON.stringify(value));
      case 'number':
        return Number.isFinite(value) ? this.#counted(JSON.stringify(value)) : this.#refuse('finite number');
      case 'bigint':
      case 'boolean':
        return this.#counted(String(value));
      case 'object':
        return value === null ? this.#counted('null') : this.#container(value);
      default:
        return this.#refuse(`no ${typeof value}`);
    }
  }

  #container(value: object): string {
    if (Array.isArray(value)) return this.#list(value, { kind: 'any' });
    const holder = this.#holder(value);
    this.#enter(value);
    const parts = Object.keys(holder).map((name) => this.#unlisted(holder, name));
    this.#open.pop();
    return `{${parts.filter((part) => part !== '').join(',')}}`;
  }

  /** A member that no table names; the empty text when it is undefined. */
  #unlisted(holder: Holder, name: string): string {
    this.#names.push(name);
    const value = resolved(holder[name], name);
    const part = value === undefined ? '' : `${this.#counted(JSON.stringify(name))}:${this.#any(value)}`;
    this.#names.pop();
    return part;
  }

  #boundedList(value: readonly unknown[], { element, bounds }: ListRule): string {
    if (bounds === null) return this.#list(value, element);
    if (value.length > bounds.itemsMax) this.#refuse(`at most ${bounds.itemsMax}`);
    const { itemBytesMax, bytesMax } = bounds;
    const isLong = (item: unknown): boolean =>
      typeof item === 'string' && utf8ByteLength(item) > (itemBytesMax ?? Infinity);
    if (value.some(isLong)) this.#refuse(`each at most ${itemBytesMax} bytes`);
    const text = this.#list(value, element);
    if (utf8ByteLength(text) > (bytesMax ?? Infinity)) this.#refuse(`at most ${bytesMax} bytes`);
    return text;
  }

  #list(value: readonly unknown[], element: AnyRule): string {
    this.#enter(value);
    const parts: string[] = [];
    for (let index = 0; index < value.length; index += 1) {
      this.#names.push(index);
      if (!(index in value)) this.#refuse('no hole in a list');
      parts.push(this.#value(resolved(value[index], String(index)), element));
      this.#names.pop();
    }
    this.#open.pop();
    return `[${parts.join(',')}]`;
  }

  #map(holder: Holder, element: AnyRule): string {
    this.#enter(holder);
    const parts: string[] = [];
    for (const name of Object.keys(holder).sort(compareCodePoints)) {
      this.#names.push(name);
      const value = resolved(holder[name], name);
      if (value !== undefined)
        parts.push(`${this.#counted(JSON.stringify(name))}:${this.#value(value, element)}`);
      this.#names.pop();
    }
    this.#open.pop();
    return `{${parts.join(',')}}`;
  }

  #tagged(holder: Holder, rule: TaggedRule): string {
    const type = Object.hasOwn(holder, 'type') ? resolved(holder['type'], 'type') : undefined;
    return this.#object(
      holder,
      (typeof type === 'string' ? rule.variants.get(type) : undefined) ?? rule.other,
    );
  }

  #object(holder: Holder, rule: ObjectRule): string {
    this.#enter(holder);
    const listed = rule.members.map((member) => this.#member(holder, member));
    const unlisted = Object.keys(holder).filter((name) => !rule.positions.has(name));
    const parts = [...listed, ...unlisted.map((name) => this.#unlisted(holder, name))];
    this.#open.pop();
    return `{${parts.filter((part) => part !== '').join(',')}}`;
  }

  /** A member of the table; the empty text when it is not written. */
  #member(holder: Holder, member: MemberRule): string {
    this.#names.push(member.name);
    const given = Object.hasOwn(holder, member.name) ? resolved(holder[member.name], member.name) : undefined;
    const value = this.#memberText(given, member);
    this.#names.pop();
    return value === null ? '' : this.#counted(`"${member.name}":${value}`);
  }

  #memberText(value: unknown, member: MemberRule): string | null {
    if (value === undefined) return this.#absent(member);
    if (value === null) return this.#null(member);
    if (member.isOmittedWhenEmpty && Array.isArray(value) && value.length === 0) return null;
    return this.#value(value, member.rule);
  }

  #absent(member: MemberRule): string | null {
    const isNeeded = member.presence === 'required' || member.presence === 'nullable';
    return isNeeded ? this.#refuse('required') : member.fallback;
  }

  #null(member: MemberRule): string | null {
    if (member.presence === 'nullable') return 'null';
    const isUnset = member.presence === 'optional' || member.presence === 'lenient';
    return isUnset ? member.fallback : this.#refuse('not null');
  }
}

/**
 * The JSON text of `event` under `rule`.
 *
 * @throws TURNLOG_INVALID_EVENT when it cannot be stored as given; details: place (a JSON pointer into the
 *   event), rule. TURNLOG_TOO_DEEP beyond the writer's nesting; TURNLOG_RECORD_TOO_LARGE when it cannot fit.
 */
export function writeEvent(event: unknown, rule: AnyRule): string {
  return new EventWriter().write(event, rule);
}
