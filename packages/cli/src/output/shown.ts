import { safeText } from '@turnlog/store';

/**
 * Text that is fit for a terminal. Printing takes nothing else, so text of a log cannot reach one as it is: the
 * only ways to make it are `shown`, which makes every value safe, and the styles of this program.
 */
export class Shown {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A template whose values are made safe. */
export function shown(parts: TemplateStringsArray, ...values: readonly (Shown | string | number)[]): Shown {
  let text = parts[0] ?? '';
  values.forEach((value, index) => {
    text += (value instanceof Shown ? value.text : safeText(String(value))) + (parts[index + 1] ?? '');
  });
  return new Shown(text);
}

export function joinShown(items: readonly Shown[], separator: string): Shown {
  return new Shown(items.map(({ text }) => text).join(separator));
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
export function styled(style: Style | null, value: Shown | string): Shown {
  const { text } = value instanceof Shown ? value : shown`${value}`;
  return style === null || text === ''
    ? new Shown(text)
    : new Shown(`\x1b[${styleNumbers[style]}m${text}\x1b[0m`);
}
