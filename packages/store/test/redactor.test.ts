import { limits } from '@turnlog/kernel';
import { createRedactor, passThrough, type Redactor, redactionFacts } from '@turnlog/store';
import { carriers, lookAlikes, plantSecrets, readings, stringsIn } from '@turnlog/testkit';
import { libraryEgresses } from './egresses.js';

const key = Buffer.alloc(32, 7);
const redactor: Redactor = createRedactor({ key });
const mark = /\[redacted:[a-z-]+:[0-9a-f]{8}\]/;

describe('1,000 planted secrets', () => {
  const planted = plantSecrets(1_000, 1);

  test('are of every kind', () => {
    const kinds = new Set(planted.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['assign', 'auth', 'jwt', 'key', 'pem', 'url']);
    expect(new Set(planted.flatMap(({ secrets }) => secrets)).size).toBeGreaterThan(1_000);
  });

  test.each(carriers)('are there before they leave, as $name', ({ line }) => {
    const hidden = planted.filter((one, seed) => {
      const seen = readings(line(one, seed)).join('\n');
      return !one.secrets.every((secret) => seen.includes(secret) || stringsHold(seen, secret));
    });
    expect(hidden).toEqual([]);
  });

  const pairs = libraryEgresses.flatMap((egress) => carriers.map((carrier) => ({ egress, carrier })));
  test.each(pairs)('none leaves by $egress.name, as $carrier.name', ({ egress, carrier }) => {
    const missed = planted.flatMap((one, seed) => {
      const line = carrier.line(one, seed);
      // Strings one by one, or one line as text, do not tell which name announces which value.
      const isValueOnly = typeof one.json !== 'string' && egress.name.startsWith('text of every');
      if (isValueOnly) return [];
      const seen = readings(egress.leave(redactor, line)).join('\n');
      return one.secrets.some((secret) => seen.includes(secret)) ? [`${one.kind} ${one.name}: ${line}`] : [];
    });
    expect(missed).toEqual([]);
  });

  test('are replaced, and nothing but them and what announces them', () => {
    for (const { text, secrets } of planted) {
      const left = redactor.text(text);
      expect(left).toMatch(mark);
      const [first = ''] = secrets;
      const before = text.slice(0, text.indexOf(first)).split(/\s/, 1)[0] ?? '';
      if (!/^(?:-----|eyJ)/.test(before) && !text.startsWith('$ cat'))
        expect(left.startsWith(before.slice(0, 3))).toBe(true);
    }
  });

  test('twice is as once', () => {
    for (const [seed, one] of planted.entries()) {
      const { line } = carriers[seed % carriers.length] ?? { line: () => one.text };
      const stored = line(one, seed);
      const once = redactor.jsonText(stored).text;
      expect(redactor.jsonText(once)).toEqual({ text: once, changed: false });
      for (const original of [one.text, stored, stored.slice(0, -1)]) {
        const text = redactor.text(original);
        expect(redactor.text(text)).toBe(text);
      }
    }
  });
});

function stringsHold(seen: string, secret: string): boolean {
  return seen.includes(JSON.stringify(secret).slice(1, -1));
}

test('1,000 look-alikes leave as they are', () => {
  const changed = lookAlikes(1_000, 2).flatMap(({ name, json }) => {
    const line = JSON.stringify({ event: { item: json } });
    const left = redactor.jsonText(line);
    const value = JSON.stringify(redactor.value(JSON.parse(line) as unknown));
    const texts = stringsIn(json).filter((text) => redactor.text(text) !== text);
    return left.changed || value !== line || texts.length > 0 ? [`${name}: ${line} -> ${left.text}`] : [];
  });
  expect(changed).toEqual([]);
});

describe('a mark', () => {
  const secret = ['gh', 'p_', 'aB3'.repeat(12)].join('');

  test('is the same for equal secrets wherever they stand, and another for others and for other keys', () => {
    const [first, second, third] = [secret, `x ${secret} y`, `"token": "${secret}"`].map(
      (text) => mark.exec(redactor.text(text))?.[0],
    );
    expect(first).toMatch(mark);
    expect([second, third]).toEqual([first, first]);
    expect(redactor.text(`${secret}x`)).not.toBe(first);
    expect(createRedactor({ key: Buffer.alloc(32, 8) }).text(secret)).not.toBe(first);
  });

  test('is the same for a secret that is written with escapes', () => {
    const line = `{"a":"${secret}","b":"\\u0067${secret.slice(1)}"}`;
    const { a, b } = JSON.parse(redactor.jsonText(line).text) as { a: string; b: string };
    expect(b).toBe(a);
  });
});

test('a key that is given as a function is asked for once, by the first secret', () => {
  let asked = 0;
  const lazy = createRedactor({
    key: () => {
      asked += 1;
      return key;
    },
  });
  expect(lazy.value({ text: 'nothing here' })).toEqual({ text: 'nothing here' });
  expect(asked).toBe(0);
  const line = '{"password":"hunter22xyz","token":"hunter22xyw"}';
  expect(lazy.jsonText(line)).toEqual(redactor.jsonText(line));
  expect(lazy.text(line)).toBe(redactor.text(line));
  expect(asked).toBe(1);
});

describe('JSON', () => {
  test('a line without a secret is the same text and the same bytes', () => {
    const line =
      '{ "b":1.0, "a" : [ -0, 1e400, 2512292042121000001 ],"c":"\\u0041\\/\\ud800 é" ,"__proto__":{} }';
    expect(redactor.jsonText(line)).toEqual({ text: line, changed: false });
    const bytes = Buffer.concat([Buffer.from(line), Buffer.from([0x20])]);
    const left = redactor.jsonBytes(bytes);
    expect(left.changed).toBe(false);
    expect(left.bytes).toBe(bytes);
  });

  test('of a line with one, all else stays byte for byte', () => {
    const before = '{ "big":2512292042121000001, "\\u0041":"\\/\\ud800", "password" :\t"';
    const after = '", "n":-0e+5,"n":1.0 }';
    const left = redactor.jsonText(`${before}hunter22xyz${after}`);
    expect(left.changed).toBe(true);
    expect(left.text.slice(0, before.length)).toBe(before);
    expect(left.text.slice(-after.length)).toBe(after);
    expect(left.text.slice(before.length, -after.length)).toMatch(new RegExp(`^${mark.source}$`));
  });

  test('bytes that are no UTF-8 stay, before and behind a secret', () => {
    const bad = Buffer.from([0xff, 0xc3]);
    const [head, middle, tail] = ['{"a":"', '","password":"hunter22xyz","b":"', '"}'].map((text) =>
      Buffer.from(text),
    );
    const parts = [head, bad, middle, bad, tail].map((part) => part ?? Buffer.alloc(0));
    const left = Buffer.from(redactor.jsonBytes(Buffer.concat(parts)).bytes);
    expect(left.subarray(6, 8)).toEqual(bad);
    expect(left.subarray(-4, -2)).toEqual(bad);
    expect(left.includes('hunter22xyz')).toBe(false);
  });

  test('what is none is treated as text', () => {
    for (const text of [
      '{"password":"hunter22xyz"',
      'password=hunter22xyz',
      '',
      '{"password":"hunter22xyz"} x',
    ]) {
      expect(redactor.jsonText(text).text).toBe(redactor.text(text));
      expect(Buffer.from(redactor.jsonBytes(Buffer.from(text)).bytes).toString()).toBe(redactor.text(text));
      expect(redactor.jsonText(text).text).not.toContain('hunter22xyz');
    }
  });

  test('6,000 levels are walked; a value is cut where readers build none', () => {
    const deep = `${'['.repeat(6_000)}"password=hunter22xyz"${']'.repeat(6_000)}`;
    const left = redactor.jsonText(deep);
    expect(left.changed).toBe(true);
    expect(left.text).not.toContain('hunter22xyz');
    expect(left.text.length).toBe(deep.length - 'hunter22xyz'.length + '[redacted:assign:00000000]'.length);

    let value: unknown = 'password=hunter22xyz';
    for (let depth = 0; depth < 6_000; depth += 1) value = [value];
    const text = JSON.stringify(redactor.value(value));
    expect(text).toBe(`${'['.repeat(512)}"[too-deep]"${']'.repeat(512)}`);
  });

  test('a name of its own prototype is a name like any other', () => {
    const value: unknown = JSON.parse('{"__proto__":{"password":"hunter22xyz"},"1":2,"constructor":3}');
    const left = JSON.stringify(redactor.value(value));
    expect(left).toMatch(
      /^\{"1":2,"__proto__":\{"password":"\[redacted:assign:[0-9a-f]{8}\]"\},"constructor":3\}$/,
    );
  });

  test('the idempotency key of a record stays, a secret in its place does not', () => {
    const random = 'abcd1234efgh5678ijkl';
    expect(redactor.jsonText(`{"seq":1,"key":"${random}"}`).changed).toBe(false);
    expect(redactor.jsonText(`{"event":{"key":"${random}"}}`).changed).toBe(true);
    expect(redactor.jsonText('{"event":{"key":"build-command"}}').changed).toBe(false);
    expect(redactor.jsonText(`{"key":"${['np', 'm_', 'aB3'.repeat(12)].join('')}"}`).changed).toBe(true);
  });

  test('numbers and literals stay under every name', () => {
    const line = '{"password":12345678,"token":null,"secret":true,"api_key":12345678901234567890}';
    expect(redactor.jsonText(line).changed).toBe(false);
  });
});

test('switched off it lets all out, and is of another type', () => {
  const line = '{"password":"hunter22xyz"}';
  const value = { password: 'hunter22xyz' };
  expect(passThrough.text(line)).toBe(line);
  expect(passThrough.value(value)).toBe(value);
  expect(passThrough.jsonText(line)).toEqual({ text: line, changed: false });
  expect(passThrough.jsonBytes(Buffer.from(line))).toEqual({ bytes: Buffer.from(line), changed: false });
  expect(redactionFacts(passThrough)).toEqual({ redacted: false });
  expect(redactionFacts(redactor)).toEqual({ redacted: true, redaction_list: 1 });
});

describe('what a redactor remembers changes nothing', () => {
  const texts = ['hunter2hunter2', '["hunter2hunter2"]', '{"password":"hunter2hunter2"}', 'completed', 'abc'];
  const names = [null, 'password', 'status', 'authorization', null];
  const line = (text: string, name: string | null): string =>
    JSON.stringify(name === null ? { item: [text] } : { item: { [name]: text } });

  test('a text is clean or not by what announces it, in whichever order it was met', () => {
    const met = createRedactor({ key });
    for (const name of [...names, ...names].reverse()) {
      for (const text of [...texts, ...texts]) {
        const fresh = createRedactor({ key });
        expect(met.jsonText(line(text, name))).toEqual(fresh.jsonText(line(text, name)));
        expect(met.text(text)).toBe(fresh.text(text));
      }
    }
    expect(met.jsonText(line('hunter2hunter2', 'password')).changed).toBe(true);
    expect(met.jsonText(line('hunter2hunter2', 'status')).changed).toBe(false);
  });

  test('also after more texts than it has room for', () => {
    const met = createRedactor({ key });
    for (let count = 0; count <= limits.redactionCleanTextsMax; count += 1) met.text(`text-${count}`);
    expect(met.text('text-0')).toBe('text-0');
    expect(met.jsonText(line('text-0text-0', 'password')).changed).toBe(true);
    expect(met.text('password=hunter2hunter2')).toMatch(mark);
  });
});
