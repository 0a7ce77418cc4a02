import type { AgentPorts } from '@turnlog/replay';
import {
  type LivePorts,
  openFixture,
  type Player,
  type PlayOptions,
  type RecordOptions,
  record,
} from '@turnlog/replay';
import {
  createTestMachine,
  FakeClock,
  ModelFileSystem,
  SeededRandom,
  type TestMachine,
} from '@turnlog/testkit';

export const directory = '/fixtures/run';

/** A disk and a clock in memory, with a place for fixtures. */
export class ReplayWorld {
  readonly clock = new FakeClock('skips');
  readonly disk = new ModelFileSystem({ clock: this.clock });
  readonly machine: TestMachine = createTestMachine({ fs: this.disk, clock: this.clock });

  constructor() {
    this.disk.plantDirectory('/fixtures');
  }

  async record(
    run: (ports: AgentPorts) => Promise<unknown>,
    ports: LivePorts,
    options: Partial<RecordOptions> = {},
  ): Promise<void> {
    await record(directory, ports, run, {
      name: 'run',
      clock: this.clock,
      environment: this.machine,
      ...options,
    });
  }

  open(options: PlayOptions = {}): Promise<Player> {
    return openFixture(directory, { fs: this.disk, ...options });
  }

  async replay(run: (ports: AgentPorts) => Promise<unknown>, options: PlayOptions = {}): Promise<Player> {
    const player = await this.open(options);
    await run(player);
    player.finish();
    return player;
  }

  files(): Readonly<Record<string, string>> {
    const names = ['fixture.json', 'events.jsonl', 'exchanges.jsonl', 'SHA256SUMS'];
    return Object.fromEntries(
      names.map((name) => [name, Buffer.from(this.disk.contentOf(`${directory}/${name}`)).toString('utf8')]),
    );
  }
}

/** One step of a random agent. */
export type Step =
  | { readonly kind: 'say'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly n: number;
      readonly fate: 'ok' | 'error' | 'timeout';
    }
  | { readonly kind: 'ask'; readonly n: number; readonly chunks: number }
  | { readonly kind: 'together'; readonly calls: readonly number[] };

/** A random agent: what it does, in order. */
export function randomSteps(seed: number): readonly Step[] {
  const random = new SeededRandom(seed);
  const count = 3 + random.below(8);
  return Array.from({ length: count }, (_, n): Step => {
    switch (random.below(4)) {
      case 0:
        return { kind: 'say', text: `text ${n} of ${seed}` };
      case 1: {
        const fates = ['ok', 'ok', 'error', 'timeout'] as const;
        return { kind: 'call', name: `tool_${random.below(3)}`, n, fate: fates[random.below(4)] ?? 'ok' };
      }
      case 2:
        return { kind: 'ask', n, chunks: random.below(4) };
      default:
        return {
          kind: 'together',
          calls: Array.from({ length: 2 + random.below(3) }, (_each, at) => n * 10 + at),
        };
    }
  });
}

/** Runs the steps on ports; every step leaves an event. */
export async function runSteps(ports: AgentPorts, steps: readonly Step[]): Promise<void> {
  ports.log.append({ type: 'turn.started' });
  for (const step of steps) await runStep(ports, step);
  ports.log.append({ type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 2 } });
}

async function runStep(ports: AgentPorts, step: Step): Promise<void> {
  switch (step.kind) {
    case 'say':
      return say(ports, step.text);
    case 'call':
      return say(ports, await outcomeOf(ports.tool(step.name, { n: step.n, fate: step.fate })));
    case 'ask': {
      let text = '';
      for await (const delta of ports.model({ messages: [step.n], chunks: step.chunks })) text += delta;
      return say(ports, text);
    }
    case 'together': {
      const order: string[] = [];
      await Promise.all(
        step.calls.map(async (n) => {
          await ports.tool('slow', { n });
          order.push(String(n));
        }),
      );
      return say(ports, order.join(' '));
    }
  }
}

export async function outcomeOf(promise: Promise<unknown>): Promise<string> {
  try {
    return `ok ${JSON.stringify(await promise)}`;
  } catch (error) {
    return error instanceof Error && error.name !== 'DivergenceError'
      ? `${error.name} ${error.message}`
      : raise(error);
  }
}

function raise(error: unknown): never {
  throw error;
}

export function say(ports: AgentPorts, text: string): void {
  ports.log.append({
    type: 'item.completed',
    item: { id: ports.ids.next('item'), type: 'agent_message', text },
  });
}

/** Ports that answer by rule: slow ones end in another order than they began in. */
export function livePorts(world: ReplayWorld): LivePorts & { readonly calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    model: async (request) => {
      calls += 1;
      const chunks: unknown = Reflect.get(Object(request), 'chunks');
      return streamOf(world, Number(chunks));
    },
    tool: async (name, args) => {
      calls += 1;
      const n = Number(Reflect.get(Object(args), 'n'));
      const fate: unknown = Reflect.get(Object(args), 'fate');
      if (name === 'slow') for (let turn = 0; turn < (n * 7) % 5; turn += 1) await Promise.resolve();
      await world.clock.sleep(1 + (n % 3));
      if (fate === 'error') throw Object.assign(new Error(`no ${n}`), { code: 'EACCES' });
      if (fate === 'timeout') throw Object.assign(new Error(`late ${n}`), { name: 'TimeoutError' });
      return { n, text: `answer ${n}` };
    },
  };
}

async function* streamOf(world: ReplayWorld, chunks: number): AsyncGenerator<string, void, void> {
  for (let at = 0; at < chunks; at += 1) {
    await world.clock.sleep(5);
    yield `part ${at} `;
  }
}
