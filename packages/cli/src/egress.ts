import { isTurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { createRedactor, type Egress, openRedactionKey, passThrough, type Redactor } from '@turnlog/store';

/**
 * The redactor of a run. It is there before any store is: errors of the command line are redacted too. Until a store
 * has been opened its marks are those of this run alone, and until the configuration has been read it knows no
 * patterns of the user. The key of the store is looked for, and made where there is none, only when a secret has been
 * found: reading a store that holds none leaves it as it is.
 */
export class RunRedactor implements Redactor {
  readonly type = 'redactor';
  readonly #environment: () => LogEnvironment;
  #root: string | null = null;
  #userPatterns: readonly string[] = [];
  #redactor: Redactor;

  constructor(environment: () => LogEnvironment) {
    this.#environment = environment;
    this.#redactor = this.#create();
  }

  /** From now on marks are those of the store at `root`. */
  useStore(root: string): void {
    if (root === this.#root) return;
    this.#root = root;
    this.#redactor = this.#create();
  }

  /** From now on what these patterns find is a secret too. @throws TURNLOG_BAD_CONFIG, see `createRedactor` */
  usePatterns(userPatterns: readonly string[]): void {
    this.#userPatterns = userPatterns;
    this.#redactor = this.#create();
  }

  text(text: string): string {
    return this.#redactor.text(text);
  }

  value<Json>(json: Json): Json {
    return this.#redactor.value(json);
  }

  jsonText(text: string): ReturnType<Redactor['jsonText']> {
    return this.#redactor.jsonText(text);
  }

  jsonBytes(bytes: Uint8Array): ReturnType<Redactor['jsonBytes']> {
    return this.#redactor.jsonBytes(bytes);
  }

  #create(): Redactor {
    return createRedactor({ key: () => this.#key(), userPatterns: this.#userPatterns });
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
