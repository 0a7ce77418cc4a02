import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type Module, parseSync } from '@swc/core';

/** Folders that are made, not written: nothing below them is looked at. */
const madeFolders: ReadonlySet<string> = new Set(['node_modules', 'dist', '.git', 'coverage', 'results']);

/** All files below `folder`, as paths from it with `/`, sorted; none when the folder does not exist. */
export function filesBelow(folder: string): readonly string[] {
  const found: string[] = [];
  const visit = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const child = join(path, entry.name);
      if (entry.isDirectory() && !madeFolders.has(entry.name)) visit(child);
      if (entry.isFile()) found.push(relative(folder, child).split(sep).join('/'));
    }
  };
  if (hasEntry(folder)) visit(folder);
  return found.sort();
}

function hasEntry(folder: string): boolean {
  try {
    readdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** TypeScript files below `folder`, absolute. */
export function typescriptBelow(folder: string): readonly string[] {
  return filesBelow(folder)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

/** The folders under packages/ that hold a package. */
export function packageFolders(root: string): readonly string[] {
  return readdirSync(join(root, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

export function parseFile(path: string): Module {
  return parseText(readFileSync(path, 'utf8'));
}

export function parseText(text: string): Module {
  return parseSync(text, { syntax: 'typescript', target: 'es2022' });
}

/** A node of a syntax tree, as far as a walk needs to know it. */
export type SyntaxNode = { readonly type: string } & Readonly<Record<string, unknown>>;

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Calls `look` for every node of the tree, outer ones first. */
export function walk(tree: unknown, look: (node: SyntaxNode) => void): void {
  if (Array.isArray(tree)) {
    for (const element of tree) walk(element, look);
    return;
  }
  if (typeof tree !== 'object' || tree === null) return;
  if (isNode(tree)) look(tree);
  for (const member of Object.values(tree)) walk(member, look);
}

/** The value of a string literal; null for any other node. */
export function literalOf(node: unknown): string | null {
  return isNode(node) && node.type === 'StringLiteral' && typeof node['value'] === 'string'
    ? node['value']
    : null;
}

/** One module that a file loads, in whatever way, and the names it takes from it where these are listed. */
export interface ImportedModule {
  readonly specifier: string;
  readonly names: readonly string[];
}

/** Everything a file imports: statements, re-exports, `import()`, `require()`, and imports within types. */
export function importsOf(module: Module): readonly ImportedModule[] {
  const found: ImportedModule[] = [];
  walk(module, (node) => {
    const specifier = specifierOf(node);
    if (specifier !== null) found.push({ specifier, names: namesOf(node) });
  });
  return found;
}

const importsByFile = new Map<string, readonly ImportedModule[]>();

/** Everything the file at `path` imports. Read once: several rules ask for it. */
export function importsOfFile(path: string): readonly ImportedModule[] {
  const known = importsByFile.get(path) ?? importsOf(parseFile(path));
  importsByFile.set(path, known);
  return known;
}

function specifierOf(node: SyntaxNode): string | null {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return literalOf(node['source']);
    case 'TsImportType':
      return literalOf(node['argument']);
    case 'TsExternalModuleReference':
      return literalOf(node['expression']);
    case 'CallExpression':
      return calledSpecifier(node);
    default:
      return null;
  }
}

function calledSpecifier(node: SyntaxNode): string | null {
  const { callee } = node;
  const isLoad =
    isNode(callee) &&
    (callee.type === 'Import' || (callee.type === 'Identifier' && callee['value'] === 'require'));
  const first: unknown = Array.isArray(node['arguments']) ? node['arguments'][0] : undefined;
  if (!isLoad || typeof first !== 'object' || first === null || !('expression' in first)) return null;
  // A computed module name hides what is loaded, so it is reported under a name that no table allows.
  return literalOf(first.expression) ?? '(computed)';
}

function namesOf(node: SyntaxNode): readonly string[] {
  const specifiers: readonly unknown[] = Array.isArray(node['specifiers']) ? node['specifiers'] : [];
  return specifiers.map((specifier) => (isNode(specifier) ? takenName(specifier) : '(unknown)'));
}

function takenName(specifier: SyntaxNode): string {
  if (specifier.type !== 'ImportSpecifier' && specifier.type !== 'ExportSpecifier') return '*';
  return (
    identifierOf(specifier['imported']) ??
    identifierOf(specifier['local']) ??
    identifierOf(specifier['orig']) ??
    '*'
  );
}

/** The text of an identifier or of a string that stands for one; null for any other node. */
export function identifierOf(node: unknown): string | null {
  return isNode(node) && typeof node['value'] === 'string' ? node['value'] : null;
}
