import { sha256Hex } from '@turnlog/kernel';
import { imageDigestOf } from './damage.js';
import type { ModelDirectory, ModelNode } from './model-directory.js';
import type { ModelFileSystem } from './model-fs.js';

/**
 * Judges disks, each once: what a program makes of a disk depends on nothing but the disk and its own options and
 * clock, and whether that is right on what was promised before. Many faults end in the same state: a call that failed
 * leaves behind what it leaves behind, whatever the system called the failure.
 *
 * Of one scenario and one way to judge: those are the same for all that it is asked.
 */
export class JudgedDisks {
  readonly #findings = new Map<string, readonly string[]>();

  /** How many different ones were judged. */
  get size(): number {
    return this.#findings.size;
  }

  /** What `judge` finds wrong, with this disk and these promises, or has found before. It may use the disk up. */
  async judge(
    disk: ModelFileSystem,
    promised: string,
    judge: () => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    const key = `${diskDigest(disk)} ${promised}`;
    const known = this.#findings.get(key);
    if (known !== undefined) return known;
    const found = await judge();
    this.#findings.set(key, found);
    return found;
  }
}

/** Of all that a program can see on a disk but the numbers of its inodes: of those, which names share one. */
function diskDigest({ root }: ModelFileSystem): string {
  const parts: string[] = [];
  const numbers = new Map<ModelNode, number>();
  const describe = (node: ModelNode): string => {
    const { mode, uid, modifiedMs } = node.facts;
    const facts = `${node.kind} ${mode} ${uid} ${modifiedMs}`;
    if (node.kind === 'link') return `${facts} ${node.target}`;
    return node.kind === 'file' ? `${facts} ${imageDigestOf(node)}` : facts;
  };
  const visit = (directory: ModelDirectory, path: string): void => {
    for (const [name, node] of [...directory.visible].sort(([left], [right]) => (left < right ? -1 : 1))) {
      const number = numbers.get(node) ?? numbers.size;
      numbers.set(node, number);
      parts.push(`${path}/${name} ${number} ${describe(node)}`);
      if (node.kind === 'directory') visit(node, `${path}/${name}`);
    }
  };
  visit(root, '');
  return sha256Hex(Buffer.from(parts.join('\n')));
}
