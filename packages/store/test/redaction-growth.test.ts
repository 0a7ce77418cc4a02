import { createRedactor, type Redactor } from '@turnlog/store';
import { plantSecrets } from '@turnlog/testkit';

const key = Buffer.alloc(32, 7);
const redactor = createRedactor({ key });
const withPatterns = createRedactor({ key, userPatterns: ['[a-z]*[0-9]*[a-z]*----', 'a{0,200}b{4}'] });

const kib = 1_024;
const mib = 1_024 * kib;

/** The least processor time of some runs: what else the machine does only ever adds to it. */
function leastCpuMs(runs: number, work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

function filled(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

/**
 * How much longer eight times the text takes. In proportion it is 8, and 64 if work grew with the square; what
 * lies between is left to the noise of a busy machine.
 */
function growth(of: Redactor, unit: string, length: number): number {
  const [small, large] = [filled(unit, length), filled(unit, length * 8)];
  of.text(small);
  // Less than a millisecond is noise of the clock alone.
  return (
    leastCpuMs(2, () => of.text(large)) /
    Math.max(
      leastCpuMs(3, () => of.text(small)),
      1,
    )
  );
}

const growthMax = 24;

test('10 MiB of output with secrets in it take no more than in proportion to 1.25 MiB', () => {
  const planted = plantSecrets(200, 6).map(({ text }) => text);
  const prose =
    'The quick brown fox (jumps) over: the lazy dog; path=/srv/x.ts line 12, status = ok.\n'.repeat(60);
  const unit = planted.map((text) => `${text}\n${prose}`).join('');
  expect(growth(redactor, unit, 1.25 * mib)).toBeLessThan(growthMax);
});

const hostile: readonly (readonly [name: string, unit: string])[] = [
  ['one letter', 'a'],
  ['digits', '1'],
  ['dashes', '-'],
  ['blanks', ' '],
  ['quotes', '"'],
  ['backslashes', '\\'],
  ['separators', '='],
  ['escapes', '\\u0041'],
  ['URL marks', '://'],
  ['users of URLs', '://a:@'],
  ['hosts of URLs', '://a:b/'],
  ['queries', '?a=b&'],
  ['tokens begun', 'eyJ.'],
  ['tokens without dots', 'eyJ-'],
  ['private keys begun', '-----BEGIN PRIVATE KEY-----'],
  ['private keys begun and wrapped', 'LS0tLS1CRUdJTi'],
  ['assignments', 'password='],
  ['assignments of nothing', 'password=...'],
  ['loose assignments', 'password: '],
  ['quoted assignments', 'key="'],
  ['options', '--key '],
  ['names alone', 'token'],
  ['headers', 'Authorization: '],
  ['headers with lists', 'Authorization: Digest a '],
  ['cookies', 'Cookie: '],
  ['bearers', 'bearer '],
  ['keys begun', 'sk-'],
  ['keys glued together', `gh${'p_'}${'aB3'.repeat(12)}`],
  ['bot tokens begun', '12345678:'],
  ['marks', '[redacted:key:01234567]'],
  ['marks begun', '[redacted:'],
  ['arrays', '['],
  ['strings in arrays', '["'],
];

test.each(hostile)('eight times as many %s take no more than in proportion', (_name, unit) => {
  expect(growth(redactor, unit, 32 * kib)).toBeLessThan(growthMax);
});

test.each(hostile.slice(0, 4))(
  'patterns of users: eight times as many %s take no more than in proportion',
  (_name, unit) => {
    expect(growth(withPatterns, unit, 4 * kib)).toBeLessThan(growthMax);
  },
);

test('the measure sees work that grows with the square', () => {
  const squared: Redactor = { ...redactor, text: (text) => text.slice(0, pairsOf(text) % 2) };
  expect(growth(squared, 'a', 2 * kib)).toBeGreaterThan(growthMax);
});

function pairsOf(text: string): number {
  let count = 0;
  for (let one = 0; one < text.length; one += 1) {
    for (let other = 0; other < text.length; other += 1) {
      if (text.charCodeAt(one) === text.charCodeAt(other)) count += 1;
    }
  }
  return count;
}
