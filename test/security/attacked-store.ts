import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryDirectory } from '@turnlog/testkit';
import { type Ended, runHere } from '../run-here.js';

/** What must come out of no command: it stands in every file of the victim's store. */
export const secret = 'precious-words-of-the-victim';

/** A store with two sessions, and beside it a store of the same shape that belongs to somebody else's matters. */
export class AttackedStore {
  readonly top: string;
  readonly root: string;
  readonly victim: string;
  readonly #remove: () => void;

  private constructor() {
    const { path, remove } = makeTemporaryDirectory();
    this.top = path;
    this.root = join(path, 'store');
    this.victim = join(path, 'victim');
    this.#remove = remove;
  }

  static async make(): Promise<AttackedStore> {
    const store = new AttackedStore();
    mkdirSync(join(store.top, 'home'), { mode: 0o700 });
    mkdirSync(join(store.top, 'out'), { mode: 0o700 });
    for (const [root, text] of [
      [store.root, 'own words'],
      [store.victim, secret],
    ] as const) {
      await fill(store, root, text);
    }
    writeFileSync(join(store.top, 'source', 'run.jsonl'), savedRun('own words'));
    return store;
  }

  own(...names: readonly string[]): string {
    return join(this.root, ...names);
  }

  victims(...names: readonly string[]): string {
    return join(this.victim, ...names);
  }

  /** Runs one command on the disk of this machine. */
  run(argv: readonly string[], input = '', root: string | null = this.root, cwd = this.top): Promise<Ended> {
    const given = root === null ? argv : ['--root', root, ...argv];
    return runHere(given, { input, cwd, env: { HOME: join(this.top, 'home') } });
  }

  /** Everything a user may do, one after the other, reading first. */
  async runEverything(): Promise<readonly Ended[]> {
    const ended: Ended[] = [];
    for (const [argv, input] of everything(this.top)) ended.push(await this.run(argv, input));
    return ended;
  }

  remove(): void {
    this.#remove();
  }
}

const turns = (text: string): string =>
  [1, 2, 3, 4, 5, 6]
    .flatMap((n) => [
      { type: 'turn.started' },
      { type: 'item.completed', item: { id: `i${n}`, type: 'agent_message', text: `${text} ${n}` } },
      { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
    ])
    .map((event) => `${JSON.stringify({ event })}\n`)
    .join('');

/** Two sessions, of which one was cut and archived; views, a key for marks, an asset, a pin and a removed session. */
async function fill(store: AttackedStore, root: string, text: string): Promise<void> {
  const lines: readonly (readonly [argv: readonly string[], input: string])[] = [
    [['record', 's-1', '--max-events', '10'], turns(text)],
    [['record', 's-2'], turns(text)],
    [['record', 'gone'], turns(text)],
    [['session', 'delete', 'gone', '--yes'], ''],
    [['session', 'pin', 's-2', '--reason', text], ''],
    [['rebuild', 's-1'], ''],
    [['import', join(store.top, 'source')], ''],
  ];
  mkdirSync(join(store.top, 'source'), { recursive: true, mode: 0o700 });
  writeFileSync(join(store.top, 'source', 'run.jsonl'), savedRun(text));
  for (const [argv, input] of lines) {
    const { exit, said } = await store.run(argv, input, root);
    if (exit !== 0) throw new Error(`${argv.join(' ')}: ${exit} ${said}`);
  }
  await store.run(['show', 's-1'], '', root);
}

function savedRun(text: string): string {
  return [
    { type: 'thread.started', thread_id: '33333333-3333-4333-8333-333333333333' },
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text } },
    { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 2 } },
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join('');
}

/** Command lines, and what each is given to read. */
function everything(top: string): readonly (readonly [argv: readonly string[], input: string])[] {
  const message = '{"type":"error","message":"m"}';
  return [
    [['sessions'], ''],
    [['show', 's-1'], ''],
    [['show', 's-1', '--raw'], ''],
    [['show', 's-1', '--turn', '1'], ''],
    [['tail', 's-1', '-n', '50'], ''],
    [['stats', '--by', 'tool'], ''],
    [['export', 's-1', '--format', 'jsonl'], ''],
    [['export', 's-1', '--format', 'html', '--out', join(top, 'out', 's-1.html'), '--force'], ''],
    [['doctor'], ''],
    [['rebuild', 's-1', '--check'], ''],
    [['gc'], ''],
    [['sessions', '--pinned'], ''],
    [['sessions', '--trash'], ''],
    [['append', 's-1', '--event', message], ''],
    [['record', 's-1', '--max-events', '8'], turns('more')],
    [['record', 'new'], turns('more')],
    [['rebuild', 's-1'], ''],
    [['doctor', '--deep', '--fix', '--yes'], ''],
    [['import', join(top, 'source')], ''],
    [['session', 'pin', 's-1', '--reason', 'r'], ''],
    [['session', 'unpin', 's-1'], ''],
    [['session', 'delete', 's-1', '--yes'], ''],
    [['gc', '--max-sessions', '1', '--purge-trash', '--apply', '--yes'], ''],
    [['sessions', '--json'], ''],
  ];
}

/** Every name below a directory with its kind, mode, owner and bytes. */
export function picture(top: string): readonly string[] {
  const names = readdirSync(top, { recursive: true, encoding: 'utf8' }).sort();
  return ['.', ...names].map((name) => {
    const path = join(top, name);
    const status = lstatSync(path);
    const what = status.isFile() ? readFileSync(path).toString('base64') : '';
    const target = status.isSymbolicLink() ? readlinkSync(path) : '';
    return `${name} ${status.mode.toString(8)} ${status.uid} ${status.ino} ${target}${what}`;
  });
}

/** Copies a directory of the victim's to a place outside of both stores. */
export function copyOf(from: string, to: string): string {
  if (!existsSync(from)) throw new Error(`there is no ${from}`);
  cpSync(from, to, { recursive: true });
  return to;
}
