import { htmlStyle } from '../src/exports/html-style.js';
import { exported, item } from './exports-support.js';
import { logOf, TestStore, turnStarted } from './support.js';

type Colours = Readonly<Record<string, string>>;

function coloursOf(block: RegExp): Colours {
  const found = block.exec(htmlStyle)?.[1] ?? '';
  return Object.fromEntries(
    [...found.matchAll(/--([a-z-]+):(#[0-9a-f]{3,6})[;}]/g)].map(([, name = '', hex = '']) => [name, hex]),
  );
}

const light = coloursOf(/^\n:root\{([^}]*\})/);
const dark = { ...light, ...coloursOf(/@media screen and \(prefers-color-scheme:dark\)\{:root\{([^}]*\})/) };
const paper = { ...light, ...coloursOf(/@media print\{:root\{([^}]*\})/) };

/** Relative luminance, as WCAG 2 defines it. */
function luminance(hex: string): number {
  const digits = hex.length === 4 ? hex.replace(/[0-9a-f]/g, '$&$&') : hex;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(digits.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const grounds: readonly (readonly [words: string, on: readonly string[]])[] = [
  ['ink', ['page', 'card', 'code', 'user-wash', 'plan-wash', 'bad-wash']],
  ['soft', ['page', 'card', 'code', 'bad-wash', 'plan-wash', 'user-wash']],
  ['faint', ['page', 'card', 'code', 'bad-wash', 'plan-wash', 'user-wash']],
  ['user', ['user-wash', 'page', 'card']],
  ['plan', ['plan-wash']],
  ['good', ['page', 'card']],
  ['bad', ['page', 'card', 'bad-wash']],
  ['open', ['page', 'card']],
  ['add', ['add-wash']],
  ['del', ['del-wash']],
];

test.each([
  ['a light screen', light],
  ['a dark screen', dark],
  ['paper', paper],
])('words on %s have the contrast that small text needs', (_where, colours) => {
  for (const [words, on] of grounds) {
    for (const ground of on) {
      const reached = contrast(colours[words] ?? '', colours[ground] ?? '');
      expect([words, ground, reached >= 4.5]).toEqual([words, ground, true]);
    }
  }
});

test('colours of dark screens are those of screens alone: paper stays light for whoever works in the dark', () => {
  expect(Object.keys(dark)).toEqual(Object.keys(light));
  expect(dark['page']).not.toBe(light['page']);
  expect(luminance(paper['page'] ?? '')).toBe(1);
  expect(htmlStyle.match(/prefers-color-scheme/g)).toHaveLength(1);
});

test('a thought whose text is not recorded says so; nobody unfolds it to find nothing', async () => {
  const place = await TestStore.make();
  const thought = (id: string, text: string): object => item({ id, type: 'reasoning', text });
  place.plant('s', logOf([turnStarted, thought('a', ''), thought('b', 'because')]));
  const { text } = exported(place, 's', 'html');
  expect([...text.matchAll(/class="gist">([^<]*)</g)].map(([, gist]) => gist)).toEqual([
    'text not recorded',
    'because',
  ]);
});
