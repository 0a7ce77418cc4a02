import { createRedactor } from '@turnlog/store';
import { placeholders, plantSecrets } from '@turnlog/testkit';
import { KeyedDigest } from '../src/redaction-mark.js';

const key = Buffer.alloc(32, 7);
const redactor = createRedactor({ key });
const secret = plantSecrets(1, 5)[0]?.secrets[0] ?? '';
const random = 'aB3dE5gH7jK9mN1pQ3sT5';

/** `#` for every mark, so that a row says what is left of a text. */
function left(text: string): string {
  return redactor.text(text).replace(/\[redacted:([a-z-]+):[0-9a-f]{8}\]/g, '#$1');
}

const rows: readonly (readonly [text: string, expected: string])[] = [
  [`${secret}`, '#key'],
  [`a\\n${secret}\\nb`, 'a\\n#key\\nb'],
  [`\u001b[1;32m${secret}\u001b[0m`, '\u001b[1;32m#key\u001b[0m'],
  [`x${secret}`, `x${secret}`],
  [`gh${'p_'}${'x'.repeat(36)}`, `gh${'p_'}${'x'.repeat(36)}`],
  [`AK${'IA'}ABCDEFG7EXAMPLEX`, `AK${'IA'}ABCDEFG7EXAMPLEX`],
  ['DB_PASSWORD=correcthorse', 'DB_PASSWORD=#assign'],
  ['export TOKEN="abc 12345"', 'export TOKEN="abc 12345"'],
  ['PASSWORD=short', 'PASSWORD=short'],
  ['password: correcthorse\nuser: ann', 'password: #assign\nuser: ann'],
  ['password: incorrect username', 'password: incorrect username'],
  ['{\\"api_key\\":\\"abcdefgh12\\"}', '{\\"api_key\\":\\"#assign\\"}'],
  ['self.password = password', 'self.password = password'],
  ["if (token === 'array-start') open();", "if (token === 'array-start') open();"],
  ['signingkey = $KEYS/id.pub', 'signingkey = $KEYS/id.pub'],
  ['pass: flag.KEY={{.Env.API_KEY}}}}', 'pass: flag.KEY={{.Env.API_KEY}}}}'],
  ['config["api_key"] = "abcdefgh12";', 'config["api_key"] = "#assign";'],
  ['<password>hunter22x</password>', '<password>#assign</password>'],
  ['login --token abcdefgh99 --verbose', 'login --token #assign --verbose'],
  ['login --token --verbose-logging', 'login --token --verbose-logging'],
  ['Password=abc;Data=1', 'Password=abc;Data=1'],
  ['Server=x;Password=abcdefgh1;Data=1', 'Server=x;Password=#assign;Data=1'],
  [`monkey=${random}`, `monkey=${random}`],
  ['key: ArrowDown', 'key: ArrowDown'],
  [`key: ${random}`, 'key: #assign'],
  ['publicKey=abcdefgh12', 'publicKey=abcdefgh12'],
  [`https://ann:pw@example.org/`, 'https://ann:#url@example.org/'],
  ['https://example.org:8080/a@b', 'https://example.org:8080/a@b'],
  ['postgres://a:s3c/r#t@db/x', 'postgres://a:#url@db/x'],
  [`https://${random}@example.org/`, 'https://#url@example.org/'],
  ['https://ann@example.org/', 'https://ann@example.org/'],
  ['/cb?token=abcd&sig=ef01&key=abcdefg&password=xyz1', '/cb?token=#url&sig=#url&key=abcdefg&password=#url'],
  ['?design=abcdefgh', '?design=abcdefgh'],
  ['Authorization: Bearer abcdef\r\nHost: x', 'Authorization: Bearer #auth\r\nHost: x'],
  ["-H 'Authorization: Basic YTpi' -H 'Accept: x'", "-H 'Authorization: Basic #auth' -H 'Accept: x'"],
  ['Authorization: Digest username="ann", response="r1"\nx', 'Authorization: Digest #auth\nx'],
  [
    '{\\"Authorization\\": \\"Digest a=\\\\\\"b\\\\\\", c=\\\\\\"d\\\\\\"\\", \\"x\\": 1}',
    '{\\"Authorization\\": \\"Digest #auth\\", \\"x\\": 1}',
  ],
  ['Authorization: see the manual', 'Authorization: see the manual'],
  ['Cookie: a=b1; c=d\nx', 'Cookie: #auth\nx'],
  ['Set-Cookie: sid=31d4; Path=/', 'Set-Cookie: #auth'],
  [`sent Bearer ${random} to`, 'sent Bearer #auth to'],
  ['-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nx', '#pem\nx'],
  ['-----BEGIN EC PRIVATE KEY-----\nMIIE\nMORE\n-- cut --', '#pem\n-- cut --'],
  [
    '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
    '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
  ],
  [
    `client-key-data: ${Buffer.from(`${'-'.repeat(5)}BEGIN PRIVATE KEY-----\nMIIE\n`).toString('base64')}`,
    'client-key-data: #pem',
  ],
  [`${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`, '#jwt'],
  [`${Buffer.from('no object').toString('base64url')}.e30.sig`, 'bm8gb2JqZWN0.e30.sig'],
  ['eyJub3QganNvbg.e30.sig', 'eyJub3QganNvbg.e30.sig'],
  [`g\\u0068p_${'aB3'.repeat(12)}`, '#key'],
];

test.each(rows)('%j', (text, expected) => {
  expect(left(text)).toBe(expected);
});

test.each(placeholders)('%s is left alone under every name', (placeholder) => {
  const texts = [
    `"API_KEY": "${placeholder}"`,
    `Authorization: Bearer ${placeholder}`,
    `https://ann:${placeholder}@example.org`,
  ];
  for (const text of texts) expect(redactor.text(text)).toBe(text);
  for (const name of ['API_KEY', 'password', 'token', 'Authorization']) {
    expect(redactor.value({ [name]: placeholder })).toEqual({ [name]: placeholder });
  }
});

const members: readonly (readonly [json: unknown, expected: unknown])[] = [
  [{ password: 'hunter22x' }, { password: '#assign' }],
  [{ password: 'two words here' }, { password: 'two words here' }],
  [{ secret_key: 'a'.repeat(4_097) + random }, { secret_key: 'a'.repeat(4_097) + random }],
  [{ headers: { Authorization: 'Bearer abc1' } }, { headers: { Authorization: 'Bearer #auth' } }],
  [{ headers: [['cookie', 'sid=abc1']] }, { headers: [['cookie', '#auth']] }],
  [
    { headers: ['Accept', '*/*', 'X-Api-Key', 'hunter22x'] },
    { headers: ['Accept', '*/*', 'X-Api-Key', '#assign'] },
  ],
  [{ env: [{ name: 'API_TOKEN', value: 'hunter22x' }] }, { env: [{ name: 'API_TOKEN', value: '#assign' }] }],
  [{ env: [{ value: 'hunter22x', name: 'API_TOKEN' }] }, { env: [{ value: '#assign', name: 'API_TOKEN' }] }],
  [
    { argv: ['x', '--api-key', 'hunter22x', 'hunter22y'] },
    { argv: ['x', '--api-key', '#assign', 'hunter22y'] },
  ],
  [{ tokens: ['password', 'username1', 'other'] }, { tokens: ['password', 'username1', 'other'] }],
  [{ input: '{"api\\u005fkey":"hunter22x"}' }, { input: '{"api\\u005fkey":"#assign"}' }],
  [{ 'password=hunter22x': 1 }, { 'password=#assign': 1 }],
];

test.each(members)('of a value %j', (json, expected) => {
  const marks = (text: string): unknown =>
    JSON.parse(text.replace(/\[redacted:([a-z-]+):[0-9a-f]{8}\]/g, '#$1'));
  expect(marks(JSON.stringify(redactor.value(json)))).toEqual(expected);
  expect(marks(redactor.jsonText(JSON.stringify(json)).text)).toEqual(expected);
});

test('high entropy is looked for only when asked', () => {
  const text = `value ${random}${random.toLowerCase()} end`;
  expect(redactor.text(text)).toBe(text);
  expect(createRedactor({ key, highEntropy: 'on' }).text(text)).toMatch(
    /^value \[redacted:high-entropy:[0-9a-f]{8}\] end$/,
  );
  const word = 'aVeryLongIdentifierWithoutDigits and 0123456789abcdef0123456789abcdef01234567';
  expect(createRedactor({ key, highEntropy: 'on' }).text(word)).toBe(word);
});

/** RFC 4231, test cases 1, 2, 3, 6. */
const vectors: readonly (readonly [key: Buffer, data: Buffer, digest: string])[] = [
  [
    Buffer.alloc(20, 0x0b),
    Buffer.from('Hi There'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  ],
  [
    Buffer.from('Jefe'),
    Buffer.from('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    Buffer.alloc(20, 0xaa),
    Buffer.alloc(50, 0xdd),
    '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
  ],
  [
    Buffer.alloc(131, 0xaa),
    Buffer.from('Test Using Larger Than Block-Size Key - Hash Key First'),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
];

test.each(vectors)('marks are HMAC-SHA-256 (vector %#)', (hmacKey, data, digest) => {
  expect(new KeyedDigest(hmacKey).hexOf(data)).toBe(digest);
});

test('a mark ends in the first 8 digits of the HMAC of the secret', () => {
  const digits = new KeyedDigest(key).hexOf(Buffer.from(secret)).slice(0, 8);
  expect(redactor.text(secret)).toBe(`[redacted:key:${digits}]`);
});
