import { snippetOf } from '../src/snippet.js';

test('the line that says most, with its neighbours, and where it says it', () => {
  const text = 'first line\nnothing here\nthe disk is full again\nlast line';
  const { text: shown, ranges } = snippetOf(text, new Set(['disk', 'full']));
  expect(shown).toBe('nothing here\nthe disk is full again\nlast line');
  expect(ranges.map(([start, end]) => shown.slice(start, end))).toEqual(['disk', 'full']);
});

test('a long line is cut at whole characters around what was searched for', () => {
  const family = '👩‍👩‍👧';
  const text = `${family.repeat(400)} needle ${family.repeat(400)}`;
  const { text: shown, ranges } = snippetOf(text, new Set(['needle']));
  expect(Array.from(shown).length).toBeLessThanOrEqual(240);
  expect(ranges.map(([start, end]) => shown.slice(start, end))).toEqual(['needle']);
  expect(shown.replaceAll(family, '').trim()).toMatch(/^…\s*needle\s*…$/);
});

test('a text without anything that was searched for shows its beginning', () => {
  expect(snippetOf('one\ntwo', new Set(['x']))).toEqual({ text: 'one\ntwo', ranges: [] });
});

test('what controls a terminal or the direction of a text is shown as an escape, and ranges are those of what is shown', () => {
  const text = 'a\x1b[31m\ttab 👍🏽 \u202eneedle\x07 x\u2028y\r\nnext\x85 needle';
  const { text: shown, ranges } = snippetOf(text, new Set(['needle']));
  expect(shown).toBe('a\\x1b[31m\ttab 👍🏽 \\u202eneedle\\x07 x\\u2028y\nnext\\x85 needle');
  expect(ranges.map(([start, end]) => shown.slice(start, end))).toEqual(['needle', 'needle']);
  const long = snippetOf(`${'\x1b'.repeat(300)} needle ${'\u202e'.repeat(300)}`, new Set(['needle']));
  expect(Array.from(long.text).length).toBeLessThanOrEqual(240);
  expect(long.text).toMatch(/^…(?:\\x1b)+ needle (?:\\u202e)+…$/);
  expect(long.ranges.map(([start, end]) => long.text.slice(start, end))).toEqual(['needle']);
});

test('of lines that say the same the first is shown', () => {
  const far = 'x '.repeat(120);
  expect(snippetOf(`one needle\n${far}\n${far}\ntwo needle`, new Set(['needle'])).text).toBe('one needle');
});
