import { safeLine, safeText } from '@turnlog/store';
import fc from 'fast-check';

const rows: readonly (readonly [text: string, safe: string])[] = [
  ['plain ASCII, ümlaut, 語, 🦊', 'plain ASCII, ümlaut, 語, 🦊'],
  ['\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
  ['\x1b]0;title\x07', '\\x1b]0;title\\x07'],
  ['a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
  ['line\u2028sep\u2029', 'line\\u2028sep\\u2029'],
  ['zero\u200bwidth\ufeff', 'zero\\u200bwidth\\ufeff'],
  ['\u0085\u009b31m\x7f', '\\x85\\x9b31m\\x7f'],
  ['\r\0', '\\x0d\\x00'],
  ['half \ud800 pair', 'half \ufffd pair'],
  ['tag \u{e0041}', 'tag \\u{e0041}'],
  ['keeps\n\ttheir shape', 'keeps\n\ttheir shape'],
];

test.each(rows)('%j becomes %j', (text, safe) => {
  expect(safeText(text)).toBe(safe);
});

test('what is safe stays as it is, and nothing that controls or hides is left', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const safe = safeText(text);
      expect(safe).not.toMatch(/[\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/u);
      expect(safe.replace(/[\n\t]/g, '')).not.toMatch(/\p{Cc}/u);
      expect(safeText(safe)).toBe(safe);
    }),
  );
});

test('a line has no newline and at most its code points, the cut marked', () => {
  expect(safeLine('one\r\ntwo\n\tthree')).toBe('one two  three');
  expect([...safeLine('語'.repeat(300))]).toHaveLength(200);
  expect(safeLine('語'.repeat(300)).endsWith('…')).toBe(true);
  expect(safeLine('🦊'.repeat(200))).toBe('🦊'.repeat(200));
  expect([...safeLine('\u202e'.repeat(100))].length).toBeLessThanOrEqual(200);
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 500 }),
      fc.integer({ min: 1, max: 250 }),
      (text, most) => {
        expect([...safeLine(text, most)].length).toBeLessThanOrEqual(most);
        expect(safeLine(text, most)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/u);
      },
    ),
  );
});
