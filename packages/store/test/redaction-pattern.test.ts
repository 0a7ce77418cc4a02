import { createRedactor } from '@turnlog/store';
import fc from 'fast-check';

const key = Buffer.alloc(32, 7);

function left(pattern: string, text: string): string {
  return createRedactor({ key, userPatterns: [pattern] })
    .text(text)
    .replace(/\[redacted:user:[0-9a-f]{8}\]/g, '#');
}

const rows: readonly (readonly [pattern: string, text: string, expected: string])[] = [
  ['acme-\\d{4}', 'x acme-1234 y acme-12 z acme-99999', 'x # y acme-12 z #9'],
  ['[A-F]{2}[0-9]{9}', 'AB12 and CD', 'AB12 and CD'],
  ['[A-F]{2}[0-9]{2,3}', 'AB1234 FF00', '#4 #'],
  ['proj\\.[a-z_]*', 'proj.alpha_beta-1 proj. proj', '#-1 # proj'],
  ['colou?r!', 'color! colour! colouur!', '# # colouur!'],
  ['[^ ,]{6}', 'abcdefg, abc', '#g, abc'],
  ['a.c\\s\\S\\w\\W', 'a-c x_! a\nc x_!', '# a\nc x_!'],
  ['\\[key\\]-\\\\', '[key]-\\ x', '# x'],
  ['ключ-\\d+', 'это ключ-77!', 'это #!'],
  ['ab*cd*e!', 'abbbcdde! ace! abe!', '# # abe!'],
  ['[^x]{4,9}', 'abcdefgh', '#'],
  ['[a\\-z]{4}', 'a-z-a b', '#a b'],
];

test.each(rows)('%s in %j', (pattern, text, expected) => {
  expect(left(pattern, text)).toBe(expected);
});

const refused: readonly (readonly [pattern: string, reason: RegExp])[] = [
  ['(abc)+d', /backslash/],
  ['abcd|efgh', /backslash/],
  ['^abcd', /backslash/],
  ['abcd$', /backslash/],
  ['*abcd', /backslash/],
  ['abc', /too short/],
  ['[a-z]+', /too short/],
  ['', /too short/],
  ['abcd{2000}', /too long/],
  ['abcd{3,2}', /order/],
  ['abcd{0}', /order/],
  ['abcd[', /too early/],
  ['abcd[]', /empty/],
  ['abcd[z-a]', /order/],
  ['abcd\\', /too early/],
  ['abcd\\q', /not known/],
  ['abcd\\1', /not known/],
];

test.each(refused)('%j is refused, and is not in the error', (pattern, reason) => {
  const error: unknown = thrownBy(() => createRedactor({ key, userPatterns: ['fine-\\d+', pattern] }));
  expect(error).toMatchObject({
    code: 'TURNLOG_BAD_CONFIG',
    details: { position: 1, reason: expect.stringMatching(reason) },
  });
  expect((error as Error).message).toContain('pattern 2');
  if (pattern !== '') expect(JSON.stringify(error) + (error as Error).message).not.toContain(pattern);
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test('more patterns than the limit are refused', () => {
  const userPatterns = Array.from({ length: 65 }, (_, at) => `pattern-${at}`);
  expect(() => createRedactor({ key, userPatterns })).toThrow(
    expect.objectContaining({ code: 'TURNLOG_BAD_CONFIG' }),
  );
  expect(() => createRedactor({ key, userPatterns: userPatterns.slice(1) })).not.toThrow();
});

test('it finds what the regular expressions of the language find, leftmost and longest', () => {
  const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '.', '\\w');
  const repeat = fc.constantFrom('', '', '?', '{2}', '{1,3}', '{0,2}');
  const pattern = fc
    .array(fc.tuple(atom, repeat), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.map((part) => part.join('')).join(''));
  fc.assert(
    fc.property(pattern, fc.stringMatching(/^[abc]{0,24}$/), (source, text) => {
      expect(left(`${source}----`, `${text}----`)).toBe(longestReplaced(`${source}----`, `${text}----`));
    }),
    { numRuns: 500 },
  );
});

/** By trying every length at every place, which only small texts allow. */
function longestReplaced(source: string, text: string): string {
  const whole = new RegExp(`^(?:${source})$`);
  let result = '';
  for (let at = 0; at < text.length; ) {
    const ends = Array.from({ length: text.length - at }, (_, less) => text.length - less);
    const end = ends.find((candidate) => whole.test(text.slice(at, candidate)));
    result += end === undefined ? text[at] : '#';
    at = end ?? at + 1;
  }
  return result;
}
