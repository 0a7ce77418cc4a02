import { readUnifiedDiff } from '@turnlog/events';

const file = {
  oldPath: null,
  newPath: null,
  hunks: [],
  isRenamed: false,
  isWhole: true,
};

test('files are told apart by their headers, and lines that look like headers belong to their hunk', () => {
  const diff = [
    'diff --git a/src/a.ts b/src/a.ts',
    '--- a/src/a.ts\t2026-01-01',
    '+++ b/src/a.ts',
    '@@ -1,3 +1,3 @@ function a',
    ' one',
    '--- two',
    '+++ zwei',
    ' three',
    '\\ No newline at end of file',
    '--- a/gone.ts',
    '+++ /dev/null',
    '@@ -7 +6,0 @@',
    '-last',
    '',
  ].join('\r\n');
  expect(readUnifiedDiff(diff)).toEqual([
    {
      ...file,
      oldPath: 'src/a.ts',
      newPath: 'src/a.ts',
      hunks: [
        {
          oldStart: 1,
          oldCount: 3,
          newStart: 1,
          newCount: 3,
          lines: [' one', '--- two', '+++ zwei', ' three'],
        },
      ],
    },
    {
      ...file,
      oldPath: 'gone.ts',
      hunks: [{ oldStart: 7, oldCount: 1, newStart: 6, newCount: 0, lines: ['-last'] }],
    },
  ]);
});

test('a diff of one file may have no header, and of a renamed one no hunk', () => {
  expect(readUnifiedDiff('@@ -0,0 +1,2 @@\n+a\n+\n')).toEqual([
    { ...file, hunks: [{ oldStart: 0, oldCount: 0, newStart: 1, newCount: 2, lines: ['+a', '+'] }] },
  ]);
  expect(
    readUnifiedDiff(
      'diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\ndiff --git a/z b/z',
    ),
  ).toEqual([{ ...file, oldPath: 'x', newPath: 'y', isRenamed: true }, file]);
  expect(readUnifiedDiff('no diff')).toEqual([]);
});

test.each([
  ['ends in a hunk', '--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n'],
  ['goes on before a hunk is whole', '--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n@@ -9 +9 @@\n y'],
  ['leaves out what is binary', 'diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ'],
])('a diff that %s is not whole', (_, diff) => {
  expect(readUnifiedDiff(diff).map(({ isWhole }) => isWhole)).toEqual([false]);
});
