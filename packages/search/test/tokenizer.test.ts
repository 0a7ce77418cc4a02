import { tokenize } from '@turnlog/search';

/** As the table of the specification writes tokens: + behind a tail, 1 behind what is a prefix in a query. */
function written(text: string): string {
  const marks = { whole: '', part: '', tail: '⁺', single: '¹' } as const;
  return tokenize(text)
    .flatMap(({ tokens }) => tokens)
    .map(({ text: token, form }) => `${token}${marks[form]}`)
    .join(' · ');
}

const hash = 'a62a8b2d9f00c1d2e3f4a5b6c7d8e9f0a1b2c3d4';

/** The table of SE-15, row by row. */
export const table: readonly (readonly [input: string, tokens: string])[] = [
  ['OvertimeService', 'overtimeservice · overtime · service'],
  ['parseHTMLResponse', 'parsehtmlresponse · parse · html · response'],
  ['user_id', 'user_id · user · id'],
  ['__proto__', '__proto__ · proto'],
  ['ERR_STRING_TOO_LONG', 'err_string_too_long · err · string · too · long'],
  ['bd-q3fy', 'bd-q3fy · bd · q3fy'],
  ['log-store.ts', 'log-store.ts · log-store · log · store · ts'],
  [
    'src/core/log-store.ts:42:7',
    'src/core/log-store.ts:42:7 · src/core/log-store.ts:42 · src/core/log-store.ts · core/log-store.ts · src · core · log-store.ts:42:7 · log-store.ts · log-store · log · store · ts · 42 · 7',
  ],
  ['C:\\w\\x.ts', 'c · w/x.ts · w · x.ts · x · ts'],
  ['@scope/pkg', 'scope/pkg · scope · pkg'],
  ['user@host', 'user@host · user · host'],
  ['std::collections::HashMap', 'std::collections::hashmap · std · collections · hashmap · hash · map'],
  ['v1.2.3', 'v1.2.3 · 1.2.3 · v1 · 2 · 3'],
  ['1.2.3-rc.1', '1.2.3-rc.1 · 1 · 2 · 3-rc · 3 · rc'],
  ['C++', 'c++ · c'],
  ['C#', 'c# · c'],
  ['repo#123', 'repo#123 · repo · 123'],
  [hash, `${hash} · a62a8b2 · a62a8b2d · a62a8b2d9f00`],
  ['E0382', 'e0382'],
  ['2512292042121000001', '2512292042121000001'],
  ["it's", 'it · s'],
  ['50%', '50'],
  ['#1', '1'],
  ['@with', 'with'],
  ['caff\u00e8', 'caffe'],
  ['caffe\u0300', 'caffe'],
  ['İstanbul', 'istanbul'],
  ['ısı', 'isi'],
  ['Straße', 'strasse'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['Привет, мир', 'привет · мир'],
  ['ёлка', 'елка'],
  ['שָׁלוֹם', 'שלום'],
  ['مُحَمَّد', 'محمد'],
  ['ﬁle', 'file'],
  ['ＡＢＣ１２', 'abc12'],
  ['x²', 'x2'],
  ['用户身份验证', '用户 · 户身 · 身份 · 份验 · 验证 · 证⁺'],
  ['語', '語¹'],
  ['食べる', '食べ · べる · る⁺'],
  ['ｱｰｷ', 'アー · ーキ · キ⁺'],
  ['인증아키', '인증 · 증아 · 아키 · 키⁺'],
  ['ภาษาไทย', 'ภา · าษ · ษา · าไ · ไท · ทย · ย⁺'],
  ['平台gen-itgc支', '平台 · 台⁺ · gen-itgc · gen · itgc · 支¹'],
  ['\u200bHello', 'hello'],
  ['foo\u200dbar', 'foobar'],
  ['🚀 deploy', '🚀 · deploy'],
  ['👍🏽', '👍'],
  ['🇩🇪', '🇩🇪'],
  ['::', ''],
  ['=>', ''],
  ['*', ''],
  ['', ''],
];

test.each(table)('%j', (input, tokens) => {
  expect(written(input)).toBe(tokens);
});
