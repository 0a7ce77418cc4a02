import { resolve } from 'node:path';
import { lintFixture } from './lint-fixture.js';

const root = resolve(__dirname, '../..');
const lines = (count: number, text: string): string => `${text}\n`.repeat(count);
const branches = Array.from({ length: 16 }, (_, index) => `  if (value === ${index}) return ${index};`).join(
  '\n',
);

/** For each rule that the house names: files in which it must complain, the first one being the place. */
const rules: readonly (readonly [rule: string, files: Readonly<Record<string, string>>])[] = [
  ['noDoubleEquals', { 'a.ts': 'export const same = (a: number, b: number): boolean => a == b;' }],
  ['noExplicitAny', { 'a.ts': 'export const value: any = 1;' }],
  [
    'noImportCycles',
    {
      'a.ts': "import { b } from './b.js';\nexport const a = (): number => b();",
      'b.ts': "import { a } from './a.js';\nexport const b = (): number => a();",
    },
  ],
  ['noSkippedTests', { 'a.test.ts': "test.skip('a', () => undefined);" }],
  ['noFocusedTests', { 'a.test.ts': "test.only('a', () => undefined);" }],
  ['noReExportAll', { 'a.ts': "export * from './b.js';", 'b.ts': 'export const b = 1;' }],
  ['noConsole', { 'a.ts': "console.log('a');" }],
  [
    'useErrorCause',
    {
      'a.ts':
        "export function a(): void {\n  try {\n    b();\n  } catch (error) {\n    throw new Error('b failed');\n  }\n}\nfunction b(): void {}",
    },
  ],
  ['useErrorMessage', { 'a.ts': 'export const a = (): Error => new Error();' }],
  [
    'useImportType',
    {
      'a.ts': "import { B } from './b.js';\nexport const a = (b: B): B => b;",
      'b.ts': 'export interface B { readonly b: number }',
    },
  ],
  ['useNodejsImportProtocol', { 'a.ts': "import { join } from 'path';\nexport const a = join('a', 'b');" }],
  ['noDefaultExport', { 'a.ts': 'export default 1;' }],
  ['useFilenamingConvention', { 'BadName.ts': 'export const a = 1;' }],
  ['noExcessiveLinesPerFile', { 'a.ts': lines(401, 'export {};') }],
  [
    'noExcessiveLinesPerFunction',
    { 'a.ts': `export function a(): void {\n${lines(71, '  b();')}}\nfunction b(): void {}` },
  ],
  [
    'noExcessiveCognitiveComplexity',
    { 'a.ts': `export function a(value: number): number {\n${branches}\n  return -1;\n}` },
  ],
  [
    'noPrivateImports',
    {
      'a.ts': "import { b } from './lower/b.js';\nexport const a = b;",
      'lower/b.ts': '/** @package */\nexport const b = 1;',
    },
  ],
  [
    'noFloatingPromises',
    { 'a.ts': 'async function b(): Promise<void> {}\nexport function a(): void {\n  b();\n}' },
  ],
  [
    'noMisusedPromises',
    {
      'a.ts':
        'async function b(): Promise<boolean> {\n  return true;\n}\nexport function a(): number {\n  if (b()) return 1;\n  return 2;\n}',
    },
  ],
  [
    'noRestrictedImports',
    { 'a.ts': "import { createInterface } from 'node:readline';\nexport const a = createInterface;" },
  ],
  ['noEnum', { 'a.ts': 'export enum A {\n  B = 1,\n}' }],
  ['noNonNullAssertion', { 'a.ts': 'export const a = (b: string | null): string => b!;' }],
  ['noParameterProperties', { 'a.ts': 'export class A {\n  constructor(readonly b: number) {}\n}' }],
  ['useConst', { 'a.ts': 'let a = 1;\nexport const b = a;' }],
];

const folderOf = (rule: string): string => `packages/one/src/${rule.toLowerCase()}`;
const files = Object.fromEntries(
  rules.flatMap(([rule, own]) =>
    Object.entries(own).map(([name, text]) => [`${folderOf(rule)}/${name}`, text]),
  ),
);
const complaints = lintFixture(root, files);

test.each(rules)('the lint rule %s is on', (rule, own) => {
  const [place] = Object.keys(own);
  const found = complaints.filter((complaint) => complaint.rule === rule);
  expect(found).toContainEqual(
    expect.objectContaining({ path: `${folderOf(rule)}/${place}`, severity: 'error' }),
  );
});

test('sizes are free in tests, and only there', () => {
  const long = `test('a', () => {\n${lines(71, '  b();')}});\n${lines(401, 'export {};')}function b(): void {}`;
  const free = lintFixture(root, {
    'packages/one/test/a.test.ts': long,
    'packages/one/test/helper.ts': long,
    'test/crash/helper.ts': long,
  });
  expect(free.filter(({ rule }) => rule.startsWith('noExcessive'))).toEqual([]);
});
