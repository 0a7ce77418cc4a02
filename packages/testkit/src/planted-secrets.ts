/**
 * Synthetic secrets for every test of a way out of a store. All are made from parts when a test runs, from a seed:
 * no file holds one.
 */

import { base64, digits, hex, letters, Maker, upper, word } from './secret-maker.js';
import { SeededRandom } from './seed.js';

export type PlantedKind = 'key' | 'pem' | 'jwt' | 'url' | 'assign' | 'auth';

/** A secret with what stands around it. */
export interface Planted {
  readonly kind: PlantedKind;
  /** What tells it apart in messages of tests. */
  readonly name: string;
  /** None of these may be in what leaves a store. */
  readonly secrets: readonly string[];
  /** The secret in a text as tools print it. */
  readonly text: string;
  /** The secret as a JSON value: the text, or members that only together say that one of them is a secret. */
  readonly json: unknown;
}

type KeyRow = readonly [name: string, parts: readonly string[], alphabet: string, length: number];

/** How keys of providers begin, in parts, and how they go on. */
const keyRows: readonly KeyRow[] = [
  ['cloud access key', ['AK', 'IA'], `${upper}234567`, 16],
  ['cloud session key', ['AS', 'IA'], `${upper}234567`, 16],
  ['cloud api key', ['AI', 'za'], word, 35],
  ['cloud client secret', ['GOC', 'SPX-'], word, 28],
  ['cloud access token', ['ya', '29.'], word, 60],
  ['droplet token', ['dop', '_v1_'], hex, 64],
  ['vault token', ['hv', 's.'], letters, 24],
  ['warehouse token', ['da', 'pi'], hex, 32],
  ['tunnel key', ['tsk', 'ey-'], letters, 28],
  ['dashboard token', ['gl', 'sa_'], letters, 32],
  ['tracker token', ['lin_', 'api_'], letters, 40],
  ['file encryption key', ['AGE-SECRET', '-KEY-1'], `${upper}${digits}`, 58],
  ['model key, long prefix', ['sk-', 'ant-api03-'], word, 93],
  ['model key, project', ['sk-', 'proj-'], word, 80],
  ['model key, plain', ['sk', '-'], letters, 48],
  ['model key, hex', ['sk', '-'], hex, 32],
  ['model key, router', ['sk-', 'or-v1-'], hex, 64],
  ['model key, fast', ['gs', 'k_'], letters, 52],
  ['model key, hub', ['h', 'f_'], letters, 34],
  ['model key, runner', ['r8', '_'], letters, 37],
  ['model key, x', ['xa', 'i-'], letters, 80],
  ['model key, chips', ['nv', 'api-'], word, 64],
  ['model key, tracing', ['lsv2', '_pt_'], word, 43],
  ['git token', ['gh', 'p_'], letters, 36],
  ['git token, app', ['gh', 's_'], letters, 36],
  ['git token, fine', ['github', '_pat_'], `${letters}_`, 82],
  ['git token, other', ['gl', 'pat-'], word, 20],
  ['git token, third', ['AT', 'BB'], letters, 32],
  ['chat bot token', ['xo', 'xb-'], `${letters}-`, 50],
  ['chat user token', ['xo', 'xp-'], `${letters}-`, 70],
  ['chat app token', ['xa', 'pp-'], `${letters}-`, 60],
  ['payment key', ['sk_', 'live_'], letters, 24],
  ['payment key, test', ['rk_', 'test_'], letters, 24],
  ['payment hook', ['wh', 'sec_'], letters, 32],
  ['shop token', ['shp', 'at_'], hex, 32],
  ['mail key', ['S', 'G.'], letters, 66],
  ['call key', ['S', 'K'], hex, 32],
  ['package token', ['np', 'm_'], letters, 36],
  ['package token, wheels', ['py', 'pi-'], word, 120],
  ['package token, gems', ['ruby', 'gems_'], hex, 48],
  ['image token', ['dckr', '_pat_'], word, 27],
];

/** Where a key may stand: what stands directly before and after it is no letter. */
const keyPlaces: readonly (readonly [before: string, after: string])[] = [
  ['', ''],
  ['the key is ', ', keep it'],
  ['export KEY_FILE=x\n', '\n'],
  ['"', '"'],
  ["curl -u '", ":' https://example.org"],
  ['\u001b[32m', '\u001b[0m'],
  ['first line\\n', '\\nlast line'],
  ['(', ')'],
  ['日本語', '。'],
  ['a%20b%3D', ''],
];

function plantKey(make: Maker, count: number): Planted {
  const [name, parts, alphabet, length] = keyRows[count % keyRows.length] ?? make.pick(keyRows);
  const body =
    alphabet === hex || !alphabet.includes('a') ? make.from(alphabet, length) : make.mixed(alphabet, length);
  // A last character that ends no word would be left out where keys may be of any length.
  const secret = parts.join('') + body.slice(0, -1) + make.from(alphabet === hex ? digits : upper, 1);
  const [before, after] = keyPlaces[count % keyPlaces.length] ?? ['', ''];
  return of('key', name, [secret], `${before}${secret}${after}`);
}

function of(
  kind: PlantedKind,
  name: string,
  secrets: readonly string[],
  text: string,
  json: unknown = text,
): Planted {
  return { kind, name, secrets, text, json };
}

function plantPem(make: Maker, count: number): Planted {
  const label = `${make.pick(['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED '])}PRIVATE KEY`;
  const lines = Array.from({ length: 3 + make.below(20) }, () => make.from(base64, 64));
  const lineEnd = make.pick(['\n', '\r\n', '\\n']);
  const [begin, end] = ['BEGIN', 'END'].map((side) => `${'-'.repeat(5)}${side} ${label}${'-'.repeat(5)}`);
  const isCut = count % 5 === 0;
  const block = [begin, ...lines, ...(isCut ? [] : [end])].join(lineEnd);
  return of('pem', isCut ? 'cut' : 'whole', lines, `$ cat id\n${block}${isCut ? '' : '\n$ done'}`);
}

function plantJwt(make: Maker): Planted {
  const header = make.base64url({ alg: make.pick(['HS256', 'RS256', 'ES256']), typ: 'JWT' });
  const claims = make.base64url({ sub: make.from(digits, 8), iat: 1_700_000_000 + make.below(1_000_000) });
  const secret = `${header}.${claims}.${make.mixed(word, 43)}`;
  return of(
    'jwt',
    'signed',
    [secret, claims],
    make.pick([secret, `session ${secret}; next`, `{"id_jwt":"${secret}"}`]),
  );
}

function plantUrl(make: Maker, count: number): Planted {
  const secret = make.mixed(letters, 12 + make.below(20));
  const texts = [
    `postgres://app:${secret}@db.example.org:5432/main`,
    `cloning https://ci:${secret}@git.example.org/team/repo.git now`,
    `https://example.org/callback?state=1&access_token=${secret}&expires=3600`,
    `GET /files/a.bin?sig=${secret} HTTP/1.1`,
    `see https://example.org/?key=${secret}#top`,
    `https://example.org/login?user=ann&password=${secret}`,
    `redis://:${secret}@cache:6379/0`,
    `https:\\/\\/ci:${secret}@example.org\\/x`,
  ];
  return of('url', `form ${count % texts.length}`, [secret], texts[count % texts.length] ?? secret);
}

const secretNames = [
  'API_KEY',
  'DB_PASSWORD',
  'GITHUB_TOKEN',
  'clientSecret',
  'aws_secret_access_key',
  'PGPASSWORD',
  'passwd',
  'AUTH_CREDENTIAL',
  'accessToken',
  'private-key',
];

function plantAssign(make: Maker, count: number): Planted {
  const name = secretNames[count % secretNames.length] ?? 'token';
  const secret = make.mixed(`${letters}!@#%^*+/=_-`, 8 + make.below(40)) + make.from(letters, 1);
  const texts = [
    `${name}=${secret}`,
    `export ${name}="${secret}"\n`,
    `${name}: ${secret}\n`,
    `{"${name}": "${secret}", "port": 1}`,
    `const ${name} = '${secret}';`,
    `{\\"${name}\\":\\"${secret}\\"}`,
    `run --${name} ${secret} --verbose`,
    `{'${name}': '${secret}'}`,
    `"${name}" => "${secret}"`,
  ];
  const values: readonly unknown[] = [
    { [name]: secret },
    { env: [{ name, value: secret }] },
    { env: [{ value: secret, name }] },
    { argv: ['run', `--${name}`, secret, 'now'] },
    { pairs: [[name, secret]] },
    { [name]: [secret] },
  ];
  const isValue = count % 2 === 1;
  const text = texts[count % texts.length] ?? secret;
  return of('assign', name, [secret], text, isValue ? values[Math.floor(count / 2) % values.length] : text);
}

function plantAuth(make: Maker, count: number): Planted {
  const secret = make.mixed(letters, 24);
  const headers = [
    ['Authorization', `Bearer ${secret}`],
    ['authorization', `Basic ${secret}`],
    ['Proxy-Authorization', `Token ${secret}`],
    ['Authorization', secret],
    ['Cookie', `theme=dark; sid=${secret}`],
    ['Set-Cookie', `sid=${secret}; Path=/; HttpOnly`],
    ['Authorization', `Digest username="ann", response="${secret}"`],
  ] as const;
  const [name, value] = headers[count % headers.length] ?? headers[0];
  const texts = [
    `GET / HTTP/1.1\r\n${name}: ${value}\r\nAccept: */*\r\n`,
    `curl -H '${name}: ${value}' https://example.org`,
    `> ${name}: ${value}`,
    JSON.stringify({ headers: { [name]: value.replaceAll('"', "'") } }),
  ];
  const values: readonly unknown[] = [
    { headers: { [name]: value } },
    { headers: [[name, value]] },
    { headers: [{ name, value }] },
    { headers: { [name]: [value] } },
    { rawHeaders: ['Accept', '*/*', name, value] },
  ];
  const text = texts[count % texts.length] ?? value;
  return of(
    'auth',
    name,
    [secret],
    text,
    count % 2 === 1 ? values[Math.floor(count / 2) % values.length] : text,
  );
}

const planters: readonly ((make: Maker, count: number) => Planted)[] = [
  plantKey,
  plantAssign,
  plantUrl,
  plantAuth,
  plantJwt,
  plantKey,
  plantPem,
];

/** `count` secrets of all kinds; the same ones for the same seed. */
export function plantSecrets(count: number, seed: number): readonly Planted[] {
  const make = new Maker(seed);
  return Array.from({ length: count }, (_, at) => {
    const round = Math.floor(at / planters.length);
    return (planters[at % planters.length] ?? plantKey)(
      make,
      at % planters.length === 5 ? round + 20 : round,
    );
  });
}

/** Ways a secret stands in a stored line; each gives one JSON text. */
export interface Carrier {
  readonly name: string;
  readonly line: (planted: Planted, seed: number) => string;
}

export const carriers: readonly Carrier[] = [
  { name: 'text', line: ({ text }) => line({ type: 'agent_message', text }) },
  { name: 'arguments', line: ({ json }) => line({ type: 'tool_invocation', arguments: { input: json } }) },
  {
    name: 'arguments as JSON text',
    line: ({ json }) => line({ arguments: JSON.stringify({ input: json }) }),
  },
  { name: 'member name', line: ({ text }) => line({ type: 'tool_output', result: { [text]: 1 } }) },
  { name: 'title', line: ({ text }) => line({ type: 'web_search', title: `about ${text}` }) },
  { name: 'path', line: ({ text }) => line({ type: 'file_change', path: `src/${text}` }) },
  { name: 'tool name', line: ({ text }) => line({ type: 'mcp_tool_call', tool: text, server: 'x' }) },
  { name: 'split by escapes', line: ({ json }, seed) => escaped(line({ input: json }), seed) },
  {
    name: 'split by escapes of inner JSON',
    line: ({ text }, seed) => line({ text: escaped(JSON.stringify({ text }), seed) }),
  },
];

function line(item: Readonly<Record<string, unknown>>): string {
  const event = { type: 'item.completed', item: { id: 'item_1', ...item } };
  return JSON.stringify({ schema_version: '0.18.0', seq: 1, ts: '2026-01-02T03:04:05.678Z', event });
}

/** JSON of the same value in which some characters of strings are escapes that nobody had to write. */
function escaped(json: string, seed: number): string {
  const random = new SeededRandom(seed);
  return json.replace(/[A-Za-z0-9:=@.-]/g, (character, at: number) => {
    const isInString = isStringAt(json, at);
    if (!isInString || random.below(3) !== 0) return character;
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

const stringsOf = new Map<string, Uint8Array>();

/** Whether a character of a JSON text stands inside of a string and is no part of an escape. */
function isStringAt(json: string, at: number): boolean {
  let marks = stringsOf.get(json);
  if (marks === undefined) {
    marks = new Uint8Array(json.length);
    for (const match of json.matchAll(/"(?:[^"\\]|\\.)*"/g))
      marks.fill(1, match.index + 1, match.index + match[0].length - 1);
    for (const match of json.matchAll(/\\(?:u[0-9a-fA-F]{4}|.)/g))
      marks.fill(0, match.index, match.index + match[0].length);
    stringsOf.clear();
    stringsOf.set(json, marks);
  }
  return marks[at] === 1;
}

/** All strings and member names of a JSON value, in order. */
export function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(Array.isArray(value) ? [] : [name]),
    ...stringsIn(member),
  ]);
}

/** `text` and what it says when escapes are read, once and twice: a secret must be in none of them. */
export function readings(text: string): readonly string[] {
  const once = unescaped(text);
  return [...new Set([text, once, unescaped(once)])];
}

function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|(["\\/]))/g,
    (_, code: string | undefined, character: string) =>
      code === undefined ? character : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
