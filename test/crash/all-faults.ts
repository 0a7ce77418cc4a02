import type { Fault } from '@turnlog/testkit';

const errnos = ['EIO', 'ENOSPC', 'EMFILE', 'EACCES'] as const;

/** Each way in which a call fails: by its name, and at which call. */
export const faults: readonly (readonly [name: string, at: (call: number) => Fault])[] = [
  ...errnos.map(
    (errno) =>
      [`${errno} once`, (call: number): Fault => ({ call, lasting: 'once', effect: { errno } })] as const,
  ),
  ...errnos.map(
    (errno) =>
      [
        `${errno} from then on`,
        (call: number): Fault => ({ call, lasting: 'from-then-on', effect: { errno } }),
      ] as const,
  ),
  // A quota answers as a full disk does: nothing tells them apart but the word.
  ['EDQUOT once', (call) => ({ call, lasting: 'once', effect: { errno: 'EDQUOT' } })],
  ['a short write once', (call) => ({ call, lasting: 'once', effect: 'short-write' })],
  ['short writes from then on', (call) => ({ call, lasting: 'from-then-on', effect: 'short-write' })],
];
