import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';

/** The program of a Chromium on this machine; null where there is none. */
export function chromiumHere(): string | null {
  const names = [process.env['CHROME_BIN'] ?? '', 'chromium', 'chromium-browser', 'google-chrome'];
  for (const name of names.filter((each) => each !== '')) {
    const found = spawnSync('sh', ['-c', `command -v "${name}"`], { encoding: 'utf8' }).stdout.trim();
    if (found !== '') return found;
  }
  return null;
}

type Members = Readonly<Record<string, unknown>>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Members;
  readonly result?: Members;
  readonly error?: { readonly message: string };
}

/** A headless Chromium, spoken to over the pipes of its DevTools protocol. */
export class Browser {
  /** Every event that came, in their order. */
  readonly events: { readonly method: string; readonly params: Members }[] = [];
  readonly #child: ChildProcess;
  readonly #profile: TemporaryDirectory;
  readonly #waiting = new Map<
    number,
    { readonly resolve: (result: Members) => void; readonly reject: (error: Error) => void }
  >();
  #last = 0;
  #session: string | null = null;
  #held = Buffer.alloc(0);

  private constructor(program: string) {
    this.#profile = makeTemporaryDirectory();
    const profile = `--user-data-dir=${join(this.#profile.path, 'profile')}`;
    const flags = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
    ];
    this.#child = spawn(program, [...flags, profile, '--remote-debugging-pipe', 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    this.#output().on('data', (chunk: Buffer) => this.#take(chunk));
  }

  static async open(program: string): Promise<Browser> {
    const browser = new Browser(program);
    const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
    browser.#session = String(sessionId);
    for (const domain of ['Page', 'Runtime', 'Network', 'Log', 'DOM']) await browser.send(`${domain}.enable`);
    return browser;
  }

  async send(method: string, params: Members = {}): Promise<Members> {
    this.#last += 1;
    const id = this.#last;
    const session = this.#session === null ? {} : { sessionId: this.#session };
    const answered = new Promise<Members>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#input().write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return await answered;
  }

  /** Opens a page, and comes back when it has loaded. */
  async visit(url: string): Promise<void> {
    const loaded = this.events.length;
    await this.send('Page.navigate', { url });
    await this.until(() =>
      this.events.slice(loaded).some(({ method }) => method === 'Page.loadEventFired') ? true : null,
    );
  }

  /** The value of an expression in the page. */
  async read<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression: `(async () => JSON.stringify(await (${expression})))()`,
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return JSON.parse(Object(result).value ?? 'null');
  }

  /** Chooses files for an input, as somebody would in its dialogue. */
  async choose(selector: string, ...files: readonly string[]): Promise<void> {
    const { root } = await this.send('DOM.getDocument');
    const { nodeId } = await this.send('DOM.querySelector', { nodeId: Object(root).nodeId, selector });
    await this.send('DOM.setFileInputFiles', { files, nodeId });
  }

  /** Asks again and again until there is an answer; the test's own limit ends what never comes. */
  async until<Value>(ask: () => Promise<Value | null> | Value | null): Promise<Value> {
    for (;;) {
      const answer = await ask();
      if (answer !== null) return answer;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#session = null;
    await Promise.race([this.send('Browser.close').catch(() => undefined), ended]);
    await ended;
    this.#profile.remove();
  }

  #input(): Writable {
    const stream = this.#child.stdio[3];
    if (stream === null || stream === undefined || !('write' in stream)) throw new Error('there is no pipe');
    return stream;
  }

  #output(): Readable {
    const stream = this.#child.stdio[4];
    if (stream === null || stream === undefined || !('read' in stream)) throw new Error('there is no pipe');
    return stream;
  }

  #take(chunk: Buffer): void {
    this.#held = Buffer.concat([this.#held, chunk]);
    for (let end = this.#held.indexOf(0); end !== -1; end = this.#held.indexOf(0)) {
      const message: Message = JSON.parse(this.#held.subarray(0, end).toString('utf8'));
      this.#held = this.#held.subarray(end + 1);
      const waiting = this.#waiting.get(message.id ?? 0);
      this.#waiting.delete(message.id ?? 0);
      if (message.error !== undefined) waiting?.reject(new Error(message.error.message));
      else if (waiting !== undefined) waiting.resolve(message.result ?? {});
      else this.events.push({ method: message.method ?? '', params: message.params ?? {} });
    }
  }
}
