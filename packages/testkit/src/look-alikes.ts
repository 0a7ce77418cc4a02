import { base64, digits, hex, letters, Maker } from './secret-maker.js';

/** Texts and values that look like secrets and are none. */
export interface LookAlike {
  readonly name: string;
  readonly json: unknown;
}

const harmlessNames = ['cacheKey', 'idempotency_key', 'primary_key', 'key', 'sort-key', 'public_key'];
/** Texts that say where a secret would stand. */
export const placeholders: readonly string[] = [
  'xxxxxxxxxxxx',
  '<token>',
  '<your-api-key>',
  ['$', '{API_TOKEN}'].join(''),
  '$API_TOKEN',
  '************',
  'XXXXXXXX-XXXX',
  '{{ secrets.token }}',
  '%API_TOKEN%',
  'your_api_key_here',
  '[REDACTED]',
  'process.env.API_TOKEN',
  'abcd…wxyz',
  'abcd...wxyz',
];

const plainTexts = [
  'tokens: 12345678 of 200000 were used',
  'const key = makeKey(options);',
  'password: required, at least eight characters',
  'the token = response.data.token line is fine',
  'for (const [key, value] of Object.entries(map)) {',
  'sk-learn-estimators-and-pipelines are not keys',
  'risk-assessment-of-the-year-2024-and-2025',
  'http://localhost:8080/path@2x.png?size=12&keyboard=de',
  'git@github.com:team/repo.git',
  'Authorization: see the manual for details',
  'Cookie preferences: open the dialog',
  'import x from "@scope/package@1.2.3";',
  'the secret: there is none',
  'if (token === expectedToken) return;',
  'keyboard: de-latin1-nodeadkeys',
  'export const monkey = "banana-split-2024";',
  '-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----',
  'key: string; token: string; password: string',
  'ssh_key=/home-dir/ann/.ssh/id_ed25519',
  'eyJ is how many tokens begin',
  'bearer-authentication-is-described-elsewhere',
];

export function lookAlikes(count: number, seed: number): readonly LookAlike[] {
  const make = new Maker(seed);
  return Array.from({ length: count }, (_, at) => lookAlike(make, at));
}

function lookAlike(make: Maker, at: number): LookAlike {
  const uuid = [8, 4, 4, 4, 12].map((length) => make.from(hex, length)).join('-');
  const digests: readonly (readonly [string, string])[] = [
    ['git object id', make.from(hex, 40)],
    ['short git object id', make.from(hex, 7 + make.below(6))],
    ['SHA-256', make.from(hex, 64)],
    ['SHA-256 with its name', `sha256:${make.from(hex, 64)}`],
    ['integrity', `sha512-${make.from(base64, 86)}==`],
    ['UUID', uuid],
    ['record id', `${make.pick(['toolu', 'call', 'msg', 'item'])}_${make.mixed(letters, 24)}`],
    ['sortable id', `01${make.from(`${digits}ABCDEFGHJKMNPQRSTVWXYZ`, 24)}`],
    ['placeholder', make.pick(placeholders)],
    ['mark', `[redacted:${make.pick(['key', 'assign', 'high-entropy'])}:${make.from(hex, 8)}]`],
  ];
  const [name, value] = digests[at % digests.length] ?? ['UUID', uuid];
  const asset = make.from(base64, 4 * (100 + make.below(900)));
  const harmless = make.pick(harmlessNames);
  const forms: readonly (readonly [string, unknown])[] = [
    [name, value],
    [`${name} in a sentence`, `see ${value} for more`],
    [`${name} of a name`, { [harmless]: value }],
    [`${name} in text of a name`, `${harmless}=${value}`],
    [`${name} in a path`, `assets/${value}/index.bin`],
    [`${name} in a URL`, `https://example.org/o/${value}?id=${value}`],
    ['asset', { type: 'image', data: asset }],
    ['asset in a URL', `data:image/png;base64,${asset}`],
    ['text', make.pick(plainTexts)],
    ['counts', { input_tokens: 123, max_tokens: '4096', api_key: 12_345_678, token: null, secret: true }],
  ];
  const [form, json] = forms[Math.floor(at / digests.length) % forms.length] ?? [name, value];
  return { name: form, json };
}
