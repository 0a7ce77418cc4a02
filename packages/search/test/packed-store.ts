import { openStore, Store } from '@turnlog/store';
import { createTestMachine, FakeClock, ModelFileSystem, type TestMachine } from '@turnlog/testkit';
import { CatchUp, type CaughtUp } from '../src/packed/catch-up.js';
import { indexLines } from '../src/packed/index-lines.js';
import { PackedIndex, type PackedOptions } from '../src/packed/packed-index.js';
import { Sealing } from '../src/packed/sealing.js';

export interface Follower {
  readonly index: PackedIndex;
  readonly sealing: Sealing;
  readonly catchUp: CatchUp;
}

/** A store on a disk in memory, with an index that follows it. */
export class PackedStore {
  readonly root = '/store';
  readonly clock: FakeClock;
  readonly fs: ModelFileSystem;
  readonly machine: TestMachine;
  readonly options: PackedOptions;
  readonly store: Store;
  follower: Follower;
  #scratch = 0;

  private constructor(
    store: Store,
    fs: ModelFileSystem,
    machine: TestMachine & { readonly clock: FakeClock },
    options: PackedOptions,
  ) {
    this.store = store;
    this.fs = fs;
    this.machine = machine;
    this.clock = machine.clock;
    this.options = options;
    this.follower = this.newFollower();
  }

  static async open(options: PackedOptions = {}): Promise<PackedStore> {
    const clock = new FakeClock('skips');
    const fs = new ModelFileSystem({ clock });
    fs.plantDirectory('/store');
    const machine = { ...createTestMachine({ fs, clock }), clock };
    const store = await openStore({ root: '/store', environment: machine, cwd: '/', env: {} });
    return new PackedStore(store, fs, machine, options);
  }

  /** As another process opens it; `root` is where its files lie. */
  newFollower(root = this.root): Follower {
    const index = PackedIndex.open(this.machine, root, this.options);
    const sealing = new Sealing(index);
    return { index, sealing, catchUp: new CatchUp(this.store, index, sealing) };
  }

  /** The same store on another disk that holds it. */
  on(fs: ModelFileSystem, options: PackedOptions = this.options): PackedStore {
    const machine = { ...createTestMachine({ fs, clock: this.clock }), clock: this.clock };
    return new PackedStore(new Store(machine, this.root, '/'), fs, machine, options);
  }

  reopen(): void {
    this.follower.index.close();
    this.follower = this.newFollower();
  }

  async catchUp(): Promise<CaughtUp> {
    return await this.follower.catchUp.run({ waitMs: 1e9 });
  }

  /** Appends events to a session and closes it. */
  async append(session: string, events: readonly object[]): Promise<void> {
    const log = await this.store.open(session);
    for (const event of events) log.append(event as never);
    await log.close();
  }

  /** What the index says of everything, and what one says that was just made from the logs. */
  async states(): Promise<{ readonly followed: readonly string[]; readonly fresh: readonly string[] }> {
    this.#scratch += 1;
    const root = `/scratch-${this.#scratch}`;
    this.fs.plantDirectory(root);
    const fresh = this.newFollower(root);
    await fresh.catchUp.run({ waitMs: 1e9 });
    const lines = { followed: [...indexLines(this.follower.index)], fresh: [...indexLines(fresh.index)] };
    fresh.index.close();
    return lines;
  }
}

/** A turn in which an agent says a text through three snapshots of one item, and calls a tool. */
export function turnOf(number: number, text: string): readonly object[] {
  const item = (words: string): object => ({ id: `m-${number}`, type: 'agent_message', text: words });
  const call = {
    id: `c-${number}`,
    type: 'tool_invocation',
    tool_name: 'shell',
    arguments: { command: text },
  };
  const output = { id: `o-${number}`, type: 'tool_output', call_id: `c-${number}`, output: `out ${text}` };
  return [
    { type: 'turn.started' },
    {
      type: 'user.message',
      id: `u-${number}`,
      origin: 'prompt',
      content: [{ type: 'text', text: `ask ${text}` }],
    },
    { type: 'item.started', item: item('beginning') },
    { type: 'item.updated', item: item(`beginning ${text}`) },
    { type: 'item.completed', item: item(`done ${text}`) },
    { type: 'item.completed', item: { ...call, status: 'completed' } },
    { type: 'item.completed', item: { ...output, status: 'completed' } },
    { type: 'turn.completed', usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 } },
  ];
}
