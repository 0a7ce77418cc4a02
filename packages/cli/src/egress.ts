import { isTurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { createRedactor, type Egress, openRedactionKey, passThrough, type Redactor } from '@turnlog/store';

/** No output is ever made with it: it only finds out whether there is anything to take out. */
const probe: Redactor = createRedactor({ key: new Uint8Array(32) });

/**
 * The redactor of a run. It is there before any store is: errors of the command line are redacted too. Until a store
 * has been opened its marks are those of this run alone. The key of the store is looked for, and made where there is
 * none, only when a secret has been found: reading a store that holds none leaves it as it is.
 */
export class RunRedactor implements Redactor {
  readonly type = 'redactor';
  readonly #environment: () => LogEnvironment;
  #root: string | null = null;
  #redactor: Redactor | null = null;

  constructor(environment: () => LogEnvironment) {
    this.#environment = environment;
  }

  /** From now on marks are those of the store at `root`. */
  useStore(root: string): void {
    if (root === this.#root) return;
    this.#root = root;
    this.#redactor = null;
  }

  text(text: string): string {
    return probe.text(text) === text ? text : this.#real().text(text);
  }

  value<Json>(json: Json): Json {
    const probed = probe.value(json);
    return JSON.stringify(probed) === JSON.stringify(json) ? probed : this.#real().value(json);
  }

  jsonText(text: string): ReturnType<Redactor['jsonText']> {
    const probed = probe.jsonText(text);
    return probed.changed ? this.#real().jsonText(text) : probed;
  }

  jsonBytes(bytes: Uint8Array): ReturnType<Redactor['jsonBytes']> {
    const probed = probe.jsonBytes(bytes);
    return probed.changed ? this.#real().jsonBytes(bytes) : probed;
  }

  #real(): Redactor {
    this.#redactor ??= createRedactor({ key: this.#key() });
    return this.#redactor;
  }

  #key(): Uint8Array {
    const environment = this.#environment();
    const ofRun = (): Uint8Array => Buffer.from(environment.ids.randomHex(32), 'hex');
    if (this.#root === null) return ofRun();
    try {
      return openRedactionKey(environment, this.#root).reveal();
    } catch (error) {
      // A key that cannot be used must keep nobody from reading, nor from hearing why something failed.
      if (!isTurnlogError(error)) throw error;
      return ofRun();
    }
  }
}

/** The way out of a run. @param mode `off`: somebody asked for everything as it is. */
export function egressFor(mode: 'on' | 'off', redactor: RunRedactor): Egress {
  return mode === 'off' ? passThrough : redactor;
}
