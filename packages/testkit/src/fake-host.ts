import type { Host } from '@turnlog/kernel';

export interface FakeHostOptions {
  readonly pid?: number;
  readonly hostname?: string;
  readonly bootId?: string | null;
  readonly pidNamespace?: string | null;
  readonly uid?: number | null;
  /** By default the machine does not tell. */
  readonly uptimeMs?: number | null;
}

/** A process on a machine whose other processes a test starts and ends. Its own pid is 100 unless told otherwise. */
export class FakeHost implements Host {
  readonly pid: number;
  readonly hostname: string;
  readonly bootId: string | null;
  readonly pidNamespace: string | null;
  readonly uid: number | null;
  readonly #uptimeMs: number | null;
  readonly #starts: Map<number, string | null>;
  readonly #exitCallbacks = new Set<() => void>();

  /** Hosts that share `processes` are processes of one machine. */
  constructor(options: FakeHostOptions = {}, processes: Map<number, string | null> = new Map()) {
    this.pid = options.pid ?? 100;
    this.hostname = options.hostname ?? 'box';
    this.bootId = options.bootId === undefined ? 'boot-1' : options.bootId;
    this.pidNamespace = options.pidNamespace === undefined ? 'pid:[1]' : options.pidNamespace;
    this.uid = options.uid === undefined ? 1000 : options.uid;
    this.#uptimeMs = options.uptimeMs ?? null;
    this.#starts = processes;
    if (!processes.has(this.pid)) processes.set(this.pid, `${this.pid}0`);
  }

  /** A process begins; a `start` of null is one whose start time the system does not tell. */
  begin(pid: number, start: string | null): void {
    this.#starts.set(pid, start);
  }

  end(pid: number): void {
    this.#starts.delete(pid);
  }

  isAlive(pid: number): boolean {
    return this.#starts.has(pid);
  }

  startOf(pid: number): string | null {
    return this.#starts.get(pid) ?? null;
  }

  uptimeMs(): number | null {
    return this.#uptimeMs;
  }

  onExit(callback: () => void): () => void {
    const entry = (): void => callback();
    this.#exitCallbacks.add(entry);
    return () => {
      this.#exitCallbacks.delete(entry);
    };
  }

  /** This process exits by itself. */
  exit(): void {
    for (const callback of this.#exitCallbacks) callback();
    this.#exitCallbacks.clear();
    this.end(this.pid);
  }
}
