import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { errorCodes } from '@turnlog/kernel';
import { isNode, literalOf, packageFolders, parseFile, typescriptBelow, walk } from './source-tree.js';

const root = resolve(__dirname, '../..');
const folders = packageFolders(root);

/**
 * The closed list. A code is added here, in the kernel, where it is thrown, and in a test that provokes it; its
 * meaning never changes, and one that left is never used again.
 */
const closedList = [
  'TURNLOG_AMBIGUOUS_ID',
  'TURNLOG_CURSOR_MISMATCH',
  'TURNLOG_ASSET_DAMAGED',
  'TURNLOG_ASSET_MISSING',
  'TURNLOG_ARCHIVE_FAILED',
  'TURNLOG_BAD_CONFIG',
  'TURNLOG_BAD_FLAG',
  'TURNLOG_BAD_SIGNATURE',
  'TURNLOG_CAP',
  'TURNLOG_BUSY',
  'TURNLOG_CLOSED',
  'TURNLOG_GONE',
  'TURNLOG_HOOK_FAILED',
  'TURNLOG_ID_COLLISION',
  'TURNLOG_INTERNAL',
  'TURNLOG_INVALID_EVENT',
  'TURNLOG_INVALID_JOURNAL',
  'TURNLOG_INVALID_FIXTURE',
  'TURNLOG_INVALID_PACK',
  'TURNLOG_INVALID_SESSION_ID',
  'TURNLOG_IO',
  'TURNLOG_KEY_CONFLICT',
  'TURNLOG_LOCKED',
  'TURNLOG_LOCK_LOST',
  'TURNLOG_LOG_UNREADABLE',
  'TURNLOG_NEEDS_YES',
  'TURNLOG_NETWORK_USED',
  'TURNLOG_NOTHING_TO_PACK',
  'TURNLOG_NOT_FOUND',
  'TURNLOG_PINNED',
  'TURNLOG_GUESSABLE',
  'TURNLOG_NOTHING_TO_SEARCH',
  'TURNLOG_POISONED',
  'TURNLOG_QUERY_TOO_LONG',
  'TURNLOG_READ_ONLY',
  'TURNLOG_RECORD_TOO_LARGE',
  'TURNLOG_REPLAY_MISS',
  'TURNLOG_RESERVED_RECORD',
  'TURNLOG_REWOUND',
  'TURNLOG_STALE_HEAD',
  'TURNLOG_TOO_DEEP',
  'TURNLOG_TURN_NOT_FOUND',
  'TURNLOG_UNKNOWN_SOURCE',
  'TURNLOG_UNPACKABLE',
  'TURNLOG_UNSAFE_PATH',
];

/** The codes that a file gives to a new `TurnlogError`, also when it chooses between two. */
function thrownIn(file: string): readonly string[] {
  const found: string[] = [];
  walk(parseFile(file), (node) => {
    const { callee } = node;
    const isError = node.type === 'NewExpression' && isNode(callee) && callee['value'] === 'TurnlogError';
    if (!isError || !Array.isArray(node['arguments'])) return;
    walk(node['arguments'][0], (part) => {
      const text = literalOf(part);
      if (text !== null) found.push(text);
    });
  });
  return found;
}

test('the list of error codes is closed', () => {
  expect(Object.keys(errorCodes).sort()).toEqual([...closedList].sort());
});

test('every code says what it means and what a person can do', () => {
  for (const { meaning, hint } of Object.values(errorCodes)) {
    expect(meaning.length).toBeGreaterThan(10);
    expect(hint.length).toBeGreaterThan(5);
  }
});

test('every code is thrown somewhere', () => {
  const thrown = new Set(
    folders.flatMap((folder) => typescriptBelow(join(root, 'packages', folder, 'src'))).flatMap(thrownIn),
  );
  expect(closedList.filter((code) => !thrown.has(code))).toEqual([]);
});

test('every code is named by a test', () => {
  const tests = [...folders.map((folder) => join(root, 'packages', folder, 'test')), join(root, 'test')];
  const text = textOf(tests.flatMap(typescriptBelow).filter((file) => file !== __filename));
  // The program shows a code as `'bad-flag'`, and so do the tests that run it.
  const shownText = textOf(
    [join(root, 'packages/cli/test'), join(root, 'test/e2e')].flatMap(typescriptBelow),
  );
  const isNamed = (code: string): boolean =>
    new RegExp(`\\b${code}\\b`).test(text) || new RegExp(`['"]${shown(code)}['"]`).test(shownText);
  expect(closedList.filter((code) => !isNamed(code))).toEqual([]);
});

function textOf(paths: readonly string[]): string {
  return paths.map((path) => readFileSync(path, 'utf8')).join('\n');
}

function shown(code: string): string {
  return code.slice('TURNLOG_'.length).toLowerCase().replaceAll('_', '-');
}

/** At the edges a code is shown without prefix and in kebab-case, by one function: a second list would drift. */
test('no file of an edge spells codes in kebab-case', () => {
  const shownCodes = new Set(closedList.map(shown));
  const lists: string[] = [];
  for (const folder of folders.filter((name) => ['cli', 'mcp', 'viewer'].includes(name))) {
    for (const file of typescriptBelow(join(root, 'packages', folder, 'src'))) {
      const spelled = new Set<string>();
      walk(parseFile(file), (node) => {
        const text = literalOf(node);
        if (text?.includes('-') && shownCodes.has(text)) spelled.add(text);
      });
      if (spelled.size > 1) lists.push(`${relative(root, file)}: ${[...spelled].join(', ')}`);
    }
  }
  expect(lists).toEqual([]);
});
