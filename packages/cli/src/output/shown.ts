import { type Egress, safeLine, safeText } from '@turnlog/store';
import { eventJson } from './event-json.js';
import { escapeControls, safeJson } from './json.js';
import { fitText, padText } from './width.js';

/**
 * Text that may leave: without the secrets of the store, and fit for a terminal. Printing takes nothing else, and
 * only this file makes it, so that no way out can forget either.
 */
class ShownText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Shown = ShownText;

export type ShownTag = (
  parts: TemplateStringsArray,
  ...values: readonly (Shown | string | number)[]
) => Shown;

/** Makes text that may leave. Secrets are taken out first and of whole texts: what is cut is found no more. */
export class Wording {
  readonly egress: Egress;

  constructor(egress: Egress) {
    this.egress = egress;
  }

  /** A template whose values are made fit. */
  readonly shown: ShownTag = (parts, ...values) => {
    let text = parts[0] ?? '';
    values.forEach((value, index) => {
      text +=
        (value instanceof ShownText ? value.text : this.#safe(String(value))) + (parts[index + 1] ?? '');
    });
    return new ShownText(text);
  };

  /** `text` on one line, cut to so many code points. */
  line(text: string, codePointsMax?: number): Shown {
    return new ShownText(safeLine(this.egress.text(text), codePointsMax));
  }

  /** Members of an object in JSON, without its braces; some of them may be JSON already. */
  members(members: Readonly<Record<string, unknown>>): Shown {
    const parts = Object.entries(members)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => this.#memberJson(name, value));
    return new ShownText(parts.join(','));
  }

  /** An object in JSON. */
  json(members: Readonly<Record<string, unknown>>): Shown {
    return this.shown`{${this.members(members)}}`;
  }

  /** The beginning of an object whose last member is a list: the items, and `]}`, are still to come. */
  jsonUpTo(members: Readonly<Record<string, unknown>>, listName: string): Shown {
    return this.shown`{${this.members({ ...members, [listName]: new ShownText('[') })}`;
  }

  /** An event as stored, but for what must not leave. @param bytes one JSON value, as a record holds it. */
  eventJson(bytes: Uint8Array): Shown {
    return new ShownText(escapeControls(this.egress.jsonText(eventJson(bytes)).text));
  }

  #memberJson(name: string, value: unknown): string {
    if (value instanceof ShownText) return `${safeJson(name)}:${value.text}`;
    // The name goes with it: it may be what makes a secret of the value.
    return safeJson(this.egress.value({ [name]: value })).slice(1, -1);
  }

  #safe(text: string): string {
    return safeText(this.egress.text(text));
  }
}

export function joinShown(items: readonly Shown[], separator: string): Shown {
  return new ShownText(items.map(({ text }) => text).join(separator));
}

/** In at most `widthMax` columns, see `fitText`. */
export function fitShown({ text }: Shown, widthMax: number): Shown {
  return new ShownText(fitText(text, widthMax));
}

/** Filled up with blanks to `width` columns. */
export function padShown({ text }: Shown, width: number, align: 'left' | 'right' = 'left'): Shown {
  const padded = padText(text, width);
  return new ShownText(align === 'left' ? padded : padded.slice(text.length) + text);
}

export type Style = 'strong' | 'faint' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

const styleNumbers: Readonly<Record<Style, number>> = {
  strong: 1,
  faint: 2,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
};

/** `value` in a style; colour never says what words do not say too. */
export function styled(style: Style | null, value: Shown): Shown {
  const { text } = value;
  return style === null || text === '' ? value : new ShownText(`\x1b[${styleNumbers[style]}m${text}\x1b[0m`);
}
