import { basename, dirname, resolve } from 'node:path';
import { expect } from '@jest/globals';
import { createNodeFileSystem, createSystemClock } from '@turnlog/fs';
import { packNames } from '../session-files.js';
import { type Findings, verdictOn } from '../verdict.js';
import { findingsJson } from '../verdict-json.js';
import { type Comparison, verifyCopy } from '../verify-session.js';

export interface VerifiedOptions extends Omit<Comparison, 'nowMs'> {
  /** When the keys are used; by default now. */
  readonly nowMs?: number;
}

declare module 'expect' {
  interface Matchers<R> {
    /** The session in this directory, or the one that this pack lies in, is as its pack says. */
    toBeVerified(options?: VerifiedOptions): Promise<R>;
  }
}

/** A pack stands for the session that it lies in. */
function sessionOf(path: string): string {
  if (basename(path) !== packNames.pack) return path;
  const place = dirname(path);
  return basename(place) === 'derived' ? dirname(place) : place;
}

const itemsTold = 5;

/** What decides, in a few lines. */
function textOf(path: string, found: Findings): string {
  const { mismatches, missing, unproven, reason } = findingsJson(found);
  const lines = Object.entries({ mismatches, missing, unproven }).flatMap(([name, list]) => {
    const items: readonly unknown[] = Array.isArray(list) ? list : [];
    const more = items.length > itemsTold ? [`  … ${items.length - itemsTold} more ${name}`] : [];
    return [...items.slice(0, itemsTold).map((item) => `  ${name}: ${JSON.stringify(item)}`), ...more];
  });
  const head = `${path}: ${verdictOn(found)}, ${found.assurance}, completeness ${found.completeness}`;
  return [head, ...(typeof reason === 'string' ? [`  ${reason}`] : []), ...lines].join('\n');
}

expect.extend({
  async toBeVerified(received: unknown, options: VerifiedOptions = {}) {
    if (typeof received !== 'string')
      throw new TypeError('the matcher takes the path of a session, or of its pack');
    const path = sessionOf(resolve(received));
    const found = await verifyCopy(createNodeFileSystem(), path, {
      nowMs: createSystemClock().now(),
      ...options,
    });
    return { pass: verdictOn(found) === 'verified', message: () => textOf(received, found) };
  },
});
