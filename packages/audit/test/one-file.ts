import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findingsJson, verifyPack } from '@turnlog/audit';
import { createNodeFileSystem } from '@turnlog/fs';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import { type AuditWorld, readWhole } from './world.js';

/** The published one-file verifier. */
export const program = join(resolve(__dirname, '../verifier'), 'turnlog-verify.mjs');

/** What it said. */
export interface Said {
  readonly exit: number | null;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly stderr: string;
}

/** The one-file verifier beside the product, in a directory of their own. */
export class OneFile {
  #directory: TemporaryDirectory | null = null;

  makeDirectory(): void {
    this.#directory = makeTemporaryDirectory();
  }

  remove(): void {
    this.#directory?.remove();
  }

  at(...names: readonly string[]): string {
    return join(this.#directory?.path ?? '', ...names);
  }

  /** Runs the file by itself in an empty directory, so that nothing but itself can be found from there. */
  run(...argv: readonly string[]): Said {
    const alone = this.at('alone');
    if (!existsSync(alone)) mkdirSync(alone);
    const copy = join(alone, 'turnlog-verify.mjs');
    writeFileSync(copy, readFileSync(program));
    const { status, stdout, stderr } = spawnSync(process.execPath, [copy, ...argv], {
      encoding: 'utf8',
      cwd: alone,
      env: {},
    });
    const lines = stdout.split('\n').filter((line) => line !== '');
    return { exit: status, lines: lines.map((line) => JSON.parse(line)), stderr };
  }

  /** Writes the files of a session in memory to the disk. */
  onDisk(world: AuditWorld, name: string): string {
    const copy = (from: string, to: string): void => {
      mkdirSync(to, { recursive: true });
      for (const entry of world.disk.list(from)) {
        if (entry.kind === 'directory') copy(join(from, entry.name), join(to, entry.name));
        else writeFileSync(join(to, entry.name), readWhole(world.disk, join(from, entry.name)));
      }
    };
    copy(world.directory(), this.at(name));
    return this.at(name);
  }

  /** Product and file agree on sessions on the disk; gives what the file says of each. */
  async allAgree(sessions: readonly string[]): Promise<Said['lines']> {
    const { exit, lines } = this.run(...sessions);
    const exits: unknown[] = [];
    for (const [position, session] of sessions.entries()) {
      const request = { directory: session, sessionId: null, nowMs: 0 };
      const told = findingsJson(await verifyPack(createNodeFileSystem(), request));
      expect({ session, ...comparable(lines[position]) }).toEqual({
        ...{ schema_version: 1, name: session, session },
        ...comparable(told),
      });
      exits.push(told['exit']);
    }
    expect(exit).toBe([3, 4, 1, 0].find((one) => exits.includes(one)));
    return lines;
  }

  async bothSay(session: string): Promise<Said['lines'][number]> {
    const [line] = await this.allAgree([session]);
    return line ?? {};
  }
}

/** The file leaves out of a difference what it cannot know, and has an order of its own. */
function comparable(told: Readonly<Record<string, unknown>> = {}): object {
  const value: Record<string, unknown> = JSON.parse(
    JSON.stringify(told),
    (_key, member) => member ?? undefined,
  );
  for (const [name, list] of Object.entries(value)) {
    if (Array.isArray(list))
      value[name] = list.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  }
  return value;
}

function keyOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(Object.entries({ ...value }).toSorted()) : `${value}`;
}
