import { identifierOf, isNode, parseFile, type SyntaxNode } from './source-tree.js';

/**
 * The names an `index.ts` exports, sorted, types marked as in `type Clock`. It may hold nothing but lists of
 * names from other files, so that each export is written down in one place.
 */
export function exportsOf(indexPath: string): readonly string[] {
  const names: string[] = [];
  for (const statement of parseFile(indexPath).body) {
    if (!isNode(statement) || statement.type !== 'ExportNamedDeclaration' || statement['source'] === null) {
      throw new Error(`${indexPath} holds more than lists of exported names: ${statement.type}`);
    }
    names.push(...listedNames(statement));
  }
  return names.sort();
}

function listedNames(statement: SyntaxNode): readonly string[] {
  const specifiers: readonly unknown[] = Array.isArray(statement['specifiers'])
    ? statement['specifiers']
    : [];
  return specifiers.filter(isNode).map((specifier) => {
    const name = identifierOf(specifier['exported']) ?? identifierOf(specifier['orig']) ?? specifier.type;
    return statement['typeOnly'] === true || specifier['isTypeOnly'] === true ? `type ${name}` : name;
  });
}
