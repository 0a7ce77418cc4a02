import { createHash } from 'node:crypto';
import { NeedIndex, stringsOf, WorldCheck } from './check.js';
import {
  changed,
  type Fact,
  failed,
  type GoldQuery,
  type Item,
  ran,
  read,
  type Scale,
  type Size,
  said,
  scales,
} from './fact.js';
import { planFacts, scriptFiller } from './facts.js';
import { Prng } from './prng.js';
import { pathOf, randomPath, randomSentence, randomText } from './vocabulary.js';
import { commands, nouns, projects } from './words.js';

/** The moment at which every query is asked, in milliseconds since the epoch. */
export const askedAtMs: number = Date.UTC(2026, 0, 1);

const dayMs = 86_400_000;
const spanDays = 330;

export interface World {
  readonly queries: readonly GoldQuery[];
  readonly records: number;
  /** SHA-256 over the name and the bytes of each log, in their order, and the gold. */
  readonly sha256: string;
}

/** A planted item: it belongs to a fact. */
interface Planted {
  readonly fact: number;
  readonly role: 'gold' | 'distractor';
  readonly item: Item;
}

/**
 * Makes the world of a seed, one session after the other, and proves that each query is answered by its gold alone.
 * The same seed makes the same bytes on every machine.
 */
export function generateWorld(seed: string, size: Size, sink: (session: string, log: string) => void): World {
  const random = new Prng(seed);
  const scale = scales[size];
  const facts = surrounded(random, planFacts(random, scale));
  const plan = layOut(random, facts, scale);
  const filler = new Filler(random, new NeedIndex(facts));
  const check = new WorldCheck(facts);
  const golds = facts.map((): string[] => []);
  const distractors = facts.map((): string[] => []);
  const hash = createHash('sha256');
  let records = 0;
  for (const [at, planted] of plan.entries()) {
    const session = `${random.pick(projects)}-${String(at + 1).padStart(5, '0')}`;
    const log = new SessionLog(random, session);
    log.write(scale, planted, filler, ({ fact, role }, id) =>
      (role === 'gold' ? golds : distractors)[fact]?.push(id),
    );
    for (const line of log.lines) check.take(session, line);
    const text = `${log.lines.join('\n')}\n`;
    hash.update(`${session}\n${text}`);
    records += log.lines.length;
    sink(session, text);
  }
  check.finish(golds);
  const queries = facts.map((fact, at) => queryOf(fact, at, golds[at] ?? [], distractors[at] ?? []));
  hash.update(goldText(queries));
  return { queries, records, sha256: hash.digest('hex') };
}

/** `gold.jsonl`: a line for each query. */
export function goldText(queries: readonly GoldQuery[]): string {
  return queries.map((query) => `${JSON.stringify(query)}\n`).join('');
}

function queryOf(
  { queryClass, text }: Fact,
  at: number,
  gold: readonly string[],
  distractors: readonly string[],
): GoldQuery {
  const query_id = `q${String(at + 1).padStart(4, '0')}`;
  return { query_id, class: queryClass, text, filters: {}, gold, distractors };
}

/**
 * The facts with other sentences around what is planted: as in real logs, little of a text is what is looked for. Near
 * ids stand in texts about as long as the right one. A number, code or hash is one leaf and has no tier of its own
 * (SE-22), so that a far shorter text with most of its parts may score higher; which is so by the formula, and nothing
 * that an engine could do better.
 */
function surrounded(random: Prng, facts: readonly Fact[]): readonly Fact[] {
  const needs = new NeedIndex(facts);
  const around = (item: Item, count: number, answers: string): Item => {
    for (let attempt = 0; attempt < 1_000; attempt += 1) {
      const longer = withSentences(random, item, count);
      if (needs.answered(stringsOf(longer).join('\n')).join() === answers) return longer;
    }
    throw new Error('an item answers what it should not, whatever is around it');
  };
  return facts.map((fact, at) => {
    const count = sentenceCount(random, fact.queryClass);
    return {
      ...fact,
      golds: fact.golds.map((item) => around(item, count(), String(at))),
      distractors: fact.distractors.map((item) => around(item, count(), '')),
    };
  });
}

/** How many sentences surround the next item: a command and an error are printed with a few lines, prose may be long. */
function sentenceCount(random: Prng, queryClass: Fact['queryClass']): () => number {
  const isPrinted = queryClass === 'error' || queryClass === 'command';
  const next = (): number =>
    random.below(10) === 0 && !isPrinted ? random.between(0, 6) : random.between(0, isPrinted ? 1 : 2);
  const first = next();
  return queryClass === 'exact-id' ? () => first : next;
}

function withSentences(random: Prng, item: Item, count: number): Item {
  const text = randomText(random, count, count);
  if (text === '') return item;
  const { text: said, rationale, aggregated_output: output } = item;
  if (typeof said === 'string') return { ...item, text: `${said} ${text}` };
  if (typeof rationale === 'string') return { ...item, rationale: `${rationale} ${text}` };
  if (typeof output === 'string') return { ...item, aggregated_output: `${text}\n${output}` };
  return item;
}

/** Which items are planted in which session. The gold of one query lies in different sessions. */
function layOut(
  random: Prng,
  facts: readonly Fact[],
  { sessions, turns, itemsPerTurn }: Scale,
): readonly Planted[][] {
  const plan: Planted[][] = Array.from({ length: sessions }, () => []);
  const room = turns * itemsPerTurn;
  const place = (planted: Planted, taken: Set<number>): void => {
    for (;;) {
      const at = random.below(sessions);
      const session = plan[at];
      if (session === undefined || taken.has(at) || session.length >= room) continue;
      taken.add(at);
      session.push(planted);
      return;
    }
  };
  for (const [fact, { golds, distractors }] of facts.entries()) {
    const taken = new Set<number>();
    for (const item of golds) place({ fact, role: 'gold', item }, taken);
    for (const item of distractors) place({ fact, role: 'distractor', item }, new Set());
  }
  return plan;
}

/** Items that answer nothing. */
class Filler {
  readonly #random: Prng;
  readonly #needs: NeedIndex;

  constructor(random: Prng, needs: NeedIndex) {
    this.#random = random;
    this.#needs = needs;
  }

  item(): Item {
    for (;;) {
      const item = this.#make();
      if (this.#needs.answered(stringsOf(item).join('\n')).length === 0) return item;
    }
  }

  #make(): Item {
    const random = this.#random;
    if (random.below(10) === 0) return said(scriptFiller(random));
    switch (random.below(8)) {
      case 0:
        return read(pathOf(randomPath(random)));
      case 1:
        return changed(pathOf(randomPath(random)));
      case 2:
        return this.#command();
      case 3:
        return { type: 'tool_output', call_id: 'c', output: this.#output(), status: 'completed' };
      case 4:
        return { type: 'reasoning', text: randomText(random, 1, 3) };
      case 5:
        return failed(randomSentence(random));
      default:
        return said(randomText(random, 1, 5));
    }
  }

  #command(): Item {
    const { tool, verb } = this.#random.pick(commands);
    return ran(`${tool} ${verb} ${this.#random.pick(nouns)}`, this.#output());
  }

  /** A few lines, sometimes many. */
  #output(): string {
    const random = this.#random;
    const lines = random.below(20) === 0 ? random.between(20, 120) : random.between(1, 6);
    return Array.from({ length: lines }, (_, at) => `${at + 1}: ${randomSentence(random)}`).join('\n');
  }
}

/** The lines of one log. */
class SessionLog {
  readonly lines: string[] = [];
  readonly #random: Prng;
  readonly #session: string;
  #tsMs: number;

  constructor(random: Prng, session: string) {
    this.#random = random;
    this.#session = session;
    this.#tsMs = askedAtMs - random.between(1, spanDays) * dayMs - random.below(dayMs);
  }

  write(
    { turns, itemsPerTurn }: Scale,
    planted: readonly Planted[],
    filler: Filler,
    note: (planted: Planted, id: string) => void,
  ): void {
    const random = this.#random;
    const workspace = `/srv/${this.#session.slice(0, -6)}`;
    this.#append({ type: 'thread.started', thread_id: this.#session });
    this.#append({ type: 'run.started', program: 'world', version: '1.0.0', cwd: workspace, workspace });
    const slots = random.shuffled(
      Array.from({ length: turns * itemsPerTurn }, (_, at) => planted[at] ?? null),
    );
    for (let turn = 0; turn < turns; turn += 1) {
      this.#append({ type: 'turn.started' });
      const text = randomSentence(random);
      this.#append({
        type: 'user.message',
        id: `u${turn}`,
        origin: 'prompt',
        content: [{ type: 'text', text }],
      });
      for (const [at, slot] of slots.slice(turn * itemsPerTurn, (turn + 1) * itemsPerTurn).entries()) {
        const { type, ...rest } = slot?.item ?? filler.item();
        const seq = this.#append({ type: 'item.completed', item: { id: `i${turn}-${at}`, type, ...rest } });
        if (slot !== null) note(slot, `${this.#session}:${seq}`);
      }
      const usage = {
        input_tokens: random.below(9_000),
        cached_input_tokens: 0,
        output_tokens: random.below(900),
      };
      this.#append({ type: 'turn.completed', usage });
    }
  }

  #append(event: object): number {
    this.#tsMs += this.#random.between(100, 60_000);
    const seq = this.lines.length + 1;
    const ts = new Date(this.#tsMs).toISOString();
    this.lines.push(JSON.stringify({ schema_version: '0.18.0', seq, ts, event }));
    return seq;
  }
}
