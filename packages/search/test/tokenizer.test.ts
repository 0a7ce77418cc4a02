import { countTokens, leavesOf, readQueryText, tokenize, tokenizerName } from '@turnlog/search';
import fc from 'fast-check';
import { foldText } from '../src/fold-text.js';
import { TailPostings } from '../src/packed/tail-postings.js';
import { sharedBytes } from './logs.js';
import { table } from './token-table.js';

// The two sides are seen to go through texts with this one.
const mockSeen: string[] = [];
jest.mock('../src/token-scanner.js', () => {
  const actual: typeof import('../src/token-scanner.js') = jest.requireActual('../src/token-scanner.js');
  return {
    TokenScanner: class extends actual.TokenScanner {
      override begin(text: string): void {
        super.begin(text);
        mockSeen.push(text);
      }
    },
  };
});

/** As the table writes tokens. */
function written(text: string): string {
  const marks = { whole: '', part: '', tail: '⁺', single: '¹' } as const;
  return tokenize(text)
    .flatMap(({ tokens }) => tokens)
    .map((token) => `${token.text}${marks[token.form]}`)
    .join(' · ');
}

/** Texts of what the rules are about, and of any code points. */
const texts: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(...table.map(([input]) => input)),
      fc.constantFrom(' ', '-', '.', '/', '\\', ':', '::', '@', '#', '+', '_', '\n', '\u200b', '\u00ad'),
      fc.constantFrom('a', 'Z', '7', 'é', 'е', 'ß', 'ς', '\u0301', '\u3099', 'が', 'ㄱ', '한', '\u0e33', '🇩'),
      fc.constantFrom('\u0640', '\u034f', '\u1160', '\ufe71', '\u{1d15e}', '\u0345', 'ẞ', '\u0958', '👍'),
      fc.string({ unit: 'binary' }),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''));

test('Q-1 the table exactly, in every normal form; the two sides are one function object', () => {
  expect(tokenizerName).toBe('tl-1');
  for (const [input, tokens] of table) {
    expect([input, written(input)]).toEqual([input, tokens]);
    for (const form of ['NFC', 'NFD'] as const) expect(written(input.normalize(form))).toBe(tokens);
  }
  fc.assert(
    fc.property(texts, (text) => {
      const tokens = tokenize(text);
      expect(tokenize(text.normalize('NFC'))).toEqual(tokens);
      expect(tokenize(text.normalize('NFD'))).toEqual(tokens);
    }),
    { numRuns: 2_000 },
  );
  mockSeen.length = 0;
  countTokens('an index');
  readQueryText('a query');
  leavesOf('a phrase');
  new TailPostings().addText(0, 'a chunk');
  expect(mockSeen).toEqual(['an index', 'a query', 'a phrase', 'a chunk']);
});

/** Bytes as they come, and more of those that decide where a compound ends. */
const asciiTexts: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0x7f }).map((code) => String.fromCharCode(code)),
      fc.constantFrom(...'aZ9_-./\\:@#+ ', '::', '++', 'C', 'x/y', 'fooBar', 'deadbeef12'),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''));

test('a text in ASCII has the tokens that it has in front of a word that is not, where each character is asked for', () => {
  const same = (text: string): void => {
    const before = tokenize(`${text} é`);
    expect(before.at(-1)?.leaves).toEqual(['e']);
    expect([text, tokenize(text)]).toEqual([text, before.slice(0, -1)]);
  };
  fc.assert(fc.property(asciiTexts, same), { numRuns: 5_000 });
  const lines = sharedBytes('spec', 'search.md')?.toString('latin1').split('\n') ?? [];
  for (const line of lines) same(line.replaceAll(/[^\0-\x7f]/g, '?'));
});

test('the table is the one of the specification', () => {
  const page = sharedBytes('spec', 'search.md');
  if (page === null) return;
  const rows =
    page.toString('utf8').split('| input | tokens')[1]?.split('\n\n')[0]?.split('\n').slice(2) ?? [];
  const known = new Map(table);
  // These three are written in words, or with characters that a page cannot show.
  const plain = rows.filter((row) => !/U\+200B|whole|none/.test(row));
  expect([rows.length - plain.length, plain.length]).toEqual([3, 21]);
  for (const row of plain) {
    const [inputs = '', tokens = ''] = row.slice(2, -2).split(' | ');
    const named = [...inputs.matchAll(/`([^`]+)`/gu)].map(([, input = '']) => known.get(input));
    expect(named.join(' — ')).toBe(tokens.replaceAll('`', ''));
  }
});

test('a text and its parts: tokens by group, tails for documents only, prefixes for queries only', () => {
  expect(countTokens('用户 user_id user')).toEqual({
    len: 6,
    terms: new Map([
      ['用户', 1],
      ['户', 1],
      ['user_id', 1],
      ['user', 2],
      ['id', 1],
    ]),
  });
  expect(readQueryText('用户 語 user_id user')).toEqual({
    tokens: [
      { text: '用户', form: 'part' },
      { text: '語', form: 'prefix' },
      { text: 'user_id', form: 'whole' },
      { text: 'user', form: 'part' },
      { text: 'id', form: 'part' },
    ],
    leaves: ['用', '户', '語', 'user', 'id', 'user'],
    identifier: null,
  });
});

test.each([
  ['user_id', 'user_id'],
  [' "parseHTMLResponse"? ', 'parsehtmlresponse'],
  ['src/a.ts:4', 'src/a.ts:4'],
  ['user', null],
  ['__proto__', null],
  ['user_id x', null],
  ['用户', null],
  ['C++', null],
  [`${'a'.repeat(60)}-${'b'.repeat(60)}`, null],
])('the identifier of %j is %j', (text, identifier) => {
  expect(readQueryText(text).identifier).toBe(identifier);
});

test.each([
  ['a/b/a', 'a/b/a · b/a · a · b'],
  ['a--b a- -b a:::b', 'a · b · a · b · a · b'],
  ['foo-где', 'foo-где · foo · где'],
  ['fooгде', 'foo · где'],
  [
    'log4Shell iPhone ABC12 getURL2',
    'log4shell · log4 · shell · iphone · i · phone · abc12 · geturl2 · get · url2',
  ],
  ['lib/C++, C#x F#', 'lib/c · lib · c++ · c · c#x · c · x · f# · f'],
  ['abc++ a1# 7# C++x C+', 'abc · a1 · 7 · c · x · c'],
  ['pkg@v1.2.3', 'pkg@v1.2.3 · pkg · v1.2.3 · 1.2.3 · v1 · 2 · 3'],
  ['10:30:45', '10:30:45 · 10 · 30 · 45'],
  ['/home/ana/x.ts', 'home/ana/x.ts · ana/x.ts · home · ana · x.ts · x · ts'],
  ['deadbee1', 'deadbee1 · deadbee'],
  ['deadbeef', 'deadbeef'],
  ['🇩 🇩🇪🇫', '🇩🇪'],
  ['foo\u200bbar', 'foo · bar'],
  ['\u09c7\u0995\u09c7\u09be', '\u09c7\u0995\u09cb'],
  ['漢字한글', '漢字 · 字⁺ · 한글 · 글⁺'],
  ['ハハハ', 'ハハ · ハハ · ハ⁺'],
  ['_ ._. -', ''],
])('%j', (input, tokens) => {
  expect(written(input)).toBe(tokens);
});

test('tokens and leaves stop at 96 code points; longer whole forms are left out', () => {
  const [long, wide] = ['x'.repeat(97), '\u{10400}'.repeat(97)];
  expect(written(long)).toBe('x'.repeat(96));
  expect(Array.from(written(wide))).toHaveLength(96);
  expect(leavesOf(`${long} y`)).toEqual(['x'.repeat(96), 'y']);
  expect(written(`${'x'.repeat(48)}-${'y'.repeat(47)}`)).toMatch(/^x{48}-y{47} · /);
  expect(written(`${'x'.repeat(48)}-${'y'.repeat(48)}`)).toBe(`${'x'.repeat(48)} · ${'y'.repeat(48)}`);
});

test('any text: leaves make the tokens, tokens are clean, and a token finds itself', () => {
  fc.assert(
    fc.property(texts, (text) => {
      for (const { kind, tokens, leaves } of tokenize(text)) {
        expect(tokens.length).toBeGreaterThan(0);
        expect(leaves.length).toBeGreaterThan(0);
        for (const token of tokens) {
          expect(token.text).not.toMatch(/[\s\\]|^$/u);
          expect(Array.from(token.text).length).toBeLessThanOrEqual(96);
        }
        // A compound says each thing once.
        if (kind === 'compound') expect(new Set(tokens.map((token) => token.text)).size).toBe(tokens.length);
      }
      const { len, terms } = countTokens(text);
      expect([...terms.values()].reduce((sum, tf) => sum + tf, 0)).toBe(len);
      for (const { text: asked, form } of readQueryText(text).tokens) {
        const isThere =
          form === 'prefix' ? [...terms.keys()].some((term) => term.startsWith(asked)) : terms.has(asked);
        expect([asked, isThere]).toEqual([asked, true]);
      }
    }),
    { numRuns: 300 },
  );
});

test('what is between separators does not depend on what is around', () => {
  fc.assert(
    fc.property(texts, texts, (left, right) => {
      expect(tokenize(`${left}\n${right}`)).toEqual([...tokenize(left), ...tokenize(right)]);
    }),
  );
});

test('folding a folded text changes nothing, but for the capital sharp s', () => {
  const changed: string[] = [];
  for (let codePoint = 0; codePoint < 0x2_0000; codePoint += 1) {
    const folded = foldText(String.fromCodePoint(codePoint).normalize('NFKC'));
    if (foldText(folded) !== folded) changed.push(String.fromCodePoint(codePoint));
  }
  expect(changed).toEqual(['ẞ']);
});

/** Whether a chunk of this text has all tokens of the query. */
function isFound(document: string, query: string): boolean {
  const { terms } = countTokens(document);
  const { tokens } = readQueryText(query);
  return tokens.length > 0 && tokens.every(({ text }) => terms.has(text));
}

test.each([
  ['B124 two characters out of a Han phrase', '重跑后五十条悬空引用清零', ['悬空', '引用', '清零']],
  [
    'B126 an ASCII word glued into Han text',
    '重跑gen-itgc后五十条',
    ['gen-itgc', 'itgc', 'gen', '重跑', '五十'],
  ],
  ['user_id by user, id, user_id', 'column user_id', ['user', 'id', 'user_id', 'USER_ID']],
  [
    'B128 OvertimeService by itself and by overtime',
    'OvertimeService',
    ['OvertimeService', 'overtime', 'service'],
  ],
  ['B129 atomic_write_json', 'in atomic_write_json', ['atomic_write_json', 'write', 'json', 'atomic']],
  ['B133 behind a zero-width space', '\u200bHello world', ['hello', '\u200bhello']],
  [
    'B135 dotted capital I, a joiner, NFC and NFD',
    'İstanbul foo\u200dbar caffe\u0300',
    ['İstanbul', 'foo\u200dbar', 'caff\u00e8', 'caffe\u0300', 'istanbul', 'foobar'],
  ],
  ['Cyrillic, Greek, Thai, Hebrew', 'портфель ΟΔΟΣ ภาษาไทย שָׁלוֹם', ['Портфель', 'οδος', 'ไทย', 'שלום']],
])('%s is found', (_, document, queries) => {
  expect(queries.filter((query) => !isFound(document, query))).toEqual([]);
});

test('every query of the case has a token in each document that it must find', () => {
  const [documents, queries] = ['docs.jsonl', 'queries.jsonl'].map((name) =>
    sharedBytes('case', `B130-search-tokens/${name}`)
      ?.toString('utf8')
      .split('\n')
      .filter((row) => row !== '')
      .map((row): { id: string; text: string; q: string; mustHit: string[] } => JSON.parse(row)),
  );
  if (documents === undefined || queries === undefined) return;
  const terms = new Map(documents.map(({ id, text }) => [id, countTokens(text).terms]));
  const missed = queries.flatMap(({ q, mustHit }) =>
    mustHit
      .filter((id) => !readQueryText(q).tokens.some(({ text }) => terms.get(id)?.has(text)))
      .map((id) => [q, id]),
  );
  expect(missed).toEqual([]);
  expect(queries.length).toBe(29);
});
