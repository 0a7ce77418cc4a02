import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface SpecifiedVerb {
  readonly subVerbs: readonly string[];
  /** As they are written, with their dashes. */
  readonly flags: readonly string[];
}

/** What the specification of the command line says there is. */
export interface SpecifiedInterface {
  readonly verbs: Readonly<Record<string, SpecifiedVerb>>;
  readonly globalFlags: readonly string[];
  /** Codes by their exit. */
  readonly exits: Readonly<Record<string, readonly string[]>>;
}

const specifications = resolve(__dirname, '../../../../shared/spec');

/** The specification as it was when this repository last followed it. */
export function frozenInterface(): SpecifiedInterface {
  return JSON.parse(readFileSync(join(__dirname, 'specified-interface.json'), 'utf8'));
}

/** The specification itself; null where it is not at hand. */
export function specifiedInterface(): SpecifiedInterface | null {
  const path = join(specifications, 'cli.md');
  return existsSync(path) ? readInterface(readFileSync(path, 'utf8')) : null;
}

/** The codes that the specifications name by their long form, without prefix; null where they are not at hand. */
export function namedCodes(): readonly string[] | null {
  if (!existsSync(specifications)) return null;
  const names = readdirSync(specifications).flatMap((file) => [
    ...readFileSync(join(specifications, file), 'utf8').matchAll(/(?<![\w{])[A-Z]+(?:_[A-Z]+)+(?!\w)/g),
  ]);
  return [...new Set(names.map(([name]) => name).filter((name) => !isVariable(name)))].sort();
}

/** Variables of the environment, flags and errors of others, and names of examples. */
function isVariable(name: string): boolean {
  return /^(?:TURNLOG|XDG|CLICOLOR|NO|O|SQLITE|IOERR|ERR|PACK|YYYYMMDD)_|_(?:HOME|DIR|DB|ROOT|FILE)$/.test(
    name,
  );
}

const flagPattern = /(?<![\w-])--?[A-Za-z][\w-]*/g;

function flagsIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(flagPattern)].map(([flag]) => flag))];
}

export function readInterface(markdown: string): SpecifiedInterface {
  const lines = markdown.split('\n');
  const rows = lines.filter((line) => line.startsWith('| ')).map(cellsOf);
  const globals = lines.find((line) => line.startsWith('Global flags:')) ?? '';
  return {
    verbs: Object.fromEntries(rows.filter(([name]) => name?.startsWith('`')).flatMap(verbsOf)),
    globalFlags: flagsIn(globals.replaceAll(/`(-{1,2}[\w-]+)[^`]*`/g, ' $1 ')),
    exits: Object.fromEntries(
      rows
        .filter(
          ([exit, meaning, codes]) => /^\d+$/.test(exit ?? '') && meaning !== undefined && isCodes(codes),
        )
        .map(([exit = '', , codes = '']) => [exit, codesIn(codes)]),
    ),
  };
}

function cellsOf(line: string): readonly string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

function isCodes(cell: string | undefined): boolean {
  return cell !== undefined && /^[a-z]+(?:-[a-z]+)*(?:$|,| \()/.test(cell);
}

function codesIn(cell: string): readonly string[] {
  return cell
    .replaceAll(/\([^)]*\)/g, '')
    .split(',')
    .map((code) => code.trim());
}

/** A row: `verb ARGUMENT`, or `verb …` whose second cell begins with what it does, as `list` · `show ID`. */
function verbsOf([name = '', does = '', flags = '']: readonly string[]): readonly (readonly [
  string,
  SpecifiedVerb,
])[] {
  const written = [...name.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  const [verb = ''] = written.map((text) =>
    text
      .split(' ')
      .filter((word) => /^[a-z]/.test(word))
      .join(' '),
  );
  // Variables stand before the next table, in code as well.
  if (verb === '' || /[A-Z_]{3}/.test(written[0]?.split(' ')[0] ?? '')) return [];
  const more = written.slice(1).map((text) => text.split(' ')[1] ?? '');
  const listed = does.startsWith('`') ? [...does.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text) : [];
  const subVerbs = [...more, ...listed.map((text) => text.split(' ')[0] ?? '')];
  return [[verb, { subVerbs, flags: flagsIn(`${does} ${flags}`) }]];
}
