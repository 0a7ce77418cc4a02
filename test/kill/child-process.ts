import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** A process that a test starts, listens to and ends. */
export class Child {
  readonly lines: string[] = [];
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;
  readonly #closed: Promise<number | null>;
  readonly #waiting = new Set<() => void>();
  errors = '';

  constructor(program: string, ...given: readonly string[]) {
    const path = join(__dirname, program);
    this.#process = spawn(process.execPath, [path, ...given], { stdio: ['ignore', 'pipe', 'pipe'] });
    let rest = '';
    this.#process.stdout.on('data', (data: Buffer) => {
      const parts = (rest + data.toString()).split('\n');
      // What follows the last line end is cut short: it was not said.
      rest = parts.pop() ?? '';
      this.lines.push(...parts);
      for (const look of this.#waiting) look();
    });
    this.#process.stderr.on('data', (data: Buffer) => {
      this.errors += data.toString();
    });
    this.#closed = new Promise((resolve) => {
      this.#process.on('close', (code) => {
        for (const look of this.#waiting) look();
        resolve(code);
      });
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Resolves when the process has ended and all it said was read. */
  ended(): Promise<number | null> {
    return this.#closed;
  }

  /** Resolves to the line when one begins with `word`, or to null when the process has ended without. */
  async said(word: string): Promise<string | null> {
    await this.saidTimes(word, 1);
    return this.lines.find((line) => line.startsWith(word)) ?? null;
  }

  /** Resolves when `count` lines begin with `word`, or the process has ended without. */
  async saidTimes(word: string, count: number): Promise<void> {
    let found = 0;
    let seen = 0;
    let hasEnded = false;
    void this.#closed.then(() => {
      hasEnded = true;
    });
    for (;;) {
      for (; seen < this.lines.length; seen += 1) if (this.lines[seen]?.startsWith(word) === true) found += 1;
      if (found >= count || hasEnded) return;
      await Promise.race([this.#closed, this.#nextLine()]);
    }
  }

  #nextLine(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }

  /** What was said after `word`, in order. */
  after(word: string): readonly string[] {
    return this.lines
      .filter((line) => line.startsWith(`${word} `))
      .map((line) => line.slice(word.length + 1));
  }
}
