/**
 * Why a path may not stand in a pack or in a bundle; null when it may. The path is data: whatever it says, what is
 * allowed here names something below the directory that is verified, on every system.
 */
export function entryPathFault(path: string): string | null {
  if (path === '') return 'the path is empty';
  if (path.startsWith('/')) return 'the path is absolute';
  if (path.endsWith('/')) return 'the path ends in a separator';
  if (path.includes('\\')) return 'the path holds a backslash';
  if (path.includes('\0')) return 'the path holds a NUL';
  if (/^[A-Za-z]:/.test(path)) return 'the path names a drive';
  const parts = path.split('/');
  if (parts.includes('..') || parts.includes('.')) return 'the path leads elsewhere';
  return parts.includes('') ? 'a part of the path is empty' : null;
}
