import { encodeRecord, formatTimestamp, schemaVersion } from '@turnlog/events';
import { createHost, createNodeFileSystem, createRandomIds, createSystemClock } from '@turnlog/fs';
import type { Clock } from '@turnlog/kernel';
import { type EventInput, leafHash, MerkleFrontier, treeRoot } from '@turnlog/log';
import { createRedactor, type Egress, programName } from '@turnlog/store';
import { encodeInput } from './event-text.js';
import {
  defaultIgnore,
  defaultMatch,
  type Exchange,
  exchangeKey,
  fixtureVersion,
  type Gap,
  type MatchRules,
  type Outcome,
  type RecordedError,
} from './fixture.js';
import { storedOf } from './live-value.js';
import { type AgentLog, type AgentPorts, type Answer, answerOf, isTextStream } from './ports.js';
import { outcomeOf, recordedErrorOf } from './recorded-error.js';
import { ReplayIds, seededRandom } from './replay-ids.js';
import { readStored, type StoredValue, storedText, stringOf } from './stored-value.js';
import {
  type Existing,
  type FixtureContent,
  type FixtureEnvironment,
  writeFixture,
} from './write-fixture.js';

/** The live counterparts of what an agent takes from outside. */
export interface LivePorts {
  readonly model?: (request: unknown) => unknown;
  readonly tool?: (name: string, args: unknown) => unknown;
  /** Any others, by name. */
  readonly others?: Readonly<Record<string, (request: unknown) => unknown>>;
}

export interface RecordOptions {
  readonly name: string;
  readonly producer?: { readonly name: string; readonly version: string };
  readonly clock?: Pick<Clock, 'now' | 'sleep'>;
  readonly egress?: Egress;
  readonly match?: MatchRules;
  readonly existing?: Existing;
  readonly environment?: FixtureEnvironment;
}

const [programTitle = '', programVersion = ''] = programName.split('/');
const thisProgram = { name: programTitle, version: programVersion } as const;

interface Draft {
  readonly port: string;
  readonly request: StoredValue;
  readonly start: number;
  readonly startSeq: number | null;
  readonly startMs: number;
  kind: Exchange['kind'];
  outcome: Outcome;
  response: StoredValue | null;
  error: RecordedError | null;
  chunks: (readonly [ms: number, delta: string])[] | null;
  end: number | null;
  endSeq: number | null;
  endMs: number;
}

/**
 * Runs code on live ports and writes what went through them as a fixture. Each live port is called once per request;
 * errors, timeouts and streams are kept as they came. When the code itself fails, nothing is written.
 *
 * @throws what the code throws; TURNLOG_NEEDS_YES when a fixture stands there and `existing` is not `replace`.
 */
export async function record<Result>(
  directory: string,
  ports: LivePorts,
  run: (ports: AgentPorts) => Promise<Result> | Result,
  options: RecordOptions,
): Promise<Result> {
  const recording = new Recording(ports, options);
  const result = await run(recording);
  writeFixture(
    options.environment ?? thisMachine(),
    directory,
    recording.content(),
    options.existing ?? 'keep',
  );
  return result;
}

function thisMachine(): FixtureEnvironment {
  const { uid } = createHost();
  return {
    fs: createNodeFileSystem(),
    ids: createRandomIds(),
    ownership: { uid, onModeWarning: () => undefined },
  };
}

/** One run that is being recorded. */
class Recording implements AgentPorts {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly ids: ReplayIds;
  readonly random: () => number;
  readonly log: AgentLog;
  readonly #live: LivePorts;
  readonly #options: RecordOptions;
  readonly #egress: Egress;
  readonly #startMs: number;
  readonly #drafts: Draft[] = [];
  readonly #lines: Uint8Array[] = [];
  #tick = 0;
  #lastMs: number;

  constructor(live: LivePorts, options: RecordOptions) {
    this.#live = live;
    this.#options = options;
    this.clock = options.clock ?? createSystemClock();
    this.#egress =
      options.egress ?? createRedactor({ key: () => Buffer.from(createRandomIds().randomHex(32), 'hex') });
    this.#startMs = this.clock.now();
    this.#lastMs = this.#startMs;
    this.ids = new ReplayIds(options.name, 'seeded', []);
    this.random = seededRandom(options.name);
    this.log = { append: (event) => this.#append(event) };
  }

  readonly model = (request: unknown): Answer =>
    this.#call('model', storedOf(request), () => this.#live.model?.(request));

  readonly tool = (name: string, args: unknown = null): Answer =>
    this.#call('tool', storedOf({ name, arguments: args }), () => this.#live.tool?.(name, args));

  readonly port =
    (name: string): ((request: unknown) => Answer) =>
    (request) =>
      this.#call(name, storedOf(request), () => this.#live.others?.[name]?.(request));

  /** What has been recorded so far, without secrets. */
  content(): FixtureContent {
    const { name, match = defaultMatch, producer = thisProgram } = this.#options;
    const exchanges = this.#exchanges(match);
    const lines = this.#lines.map((line) => this.#egress.jsonBytes(line.subarray(0, line.length - 1)));
    const tree = new MerkleFrontier();
    for (const { bytes } of lines) tree.add(leafHash(bytes, 0, bytes.length));
    const gaps: readonly Gap[] = exchanges
      .filter(({ outcome }) => outcome === 'unfinished')
      .map(({ n, startSeq }) => ({ reason: 'no-outcome', seq: startSeq, exchange: n, turn: null }));
    const others = Object.keys(this.#live.others ?? {});
    return {
      description: {
        schemaVersion: fixtureVersion,
        name,
        source: {
          session: name,
          fromSeq: lines.length > 0 ? 1 : 0,
          toSeq: lines.length,
          root: treeRoot(tree.head()),
          size: lines.length,
          firstTurn: 1,
        },
        contract: schemaVersion,
        producer,
        clock: { start: formatTimestamp(this.#startMs), mode: 'recorded' },
        ids: { mode: 'seeded', seed: name },
        ports: ['model', 'tool', ...others],
        match,
        ignore: defaultIgnore,
        redaction: {
          applied: this.#egress.type === 'redactor',
          policy: this.#egress.type === 'redactor' ? 'default' : 'none',
          changed: lines.filter(({ changed }) => changed).length,
        },
        counts: { records: lines.length, turns: this.#turnCount(), exchanges: exchanges.length },
        complete: gaps.length === 0,
        gaps,
      },
      events: lines.flatMap(({ bytes }) => [bytes, Buffer.from('\n')]),
      exchanges,
      assets: [],
    };
  }

  #turnCount(): number {
    return this.#lines.filter((line) => Buffer.from(line).includes('"event":{"type":"turn.started"')).length;
  }

  #append(event: EventInput): { readonly seq: number } {
    const seq = this.#lines.length + 1;
    this.#lastMs = Math.max(this.#lastMs, this.clock.now());
    this.#lines.push(encodeRecord({ seq, ts: formatTimestamp(this.#lastMs) }, encodeInput(event)));
    return { seq };
  }

  #call(port: string, request: StoredValue, live: () => unknown): Answer {
    this.#tick += 1;
    const startMs = this.clock.now();
    const startSeq = this.#seq();
    const draft: Draft = {
      port,
      request,
      start: this.#tick,
      startSeq,
      startMs,
      kind: 'call',
      outcome: 'unfinished',
      response: null,
      error: null,
      chunks: null,
      end: null,
      endSeq: null,
      endMs: startMs,
    };
    this.#drafts.push(draft);
    return answerOf(this.#settle(draft, live));
  }

  async #settle(draft: Draft, live: () => unknown): Promise<unknown> {
    try {
      const value = await live();
      if (isTextStream(value)) return this.#stream(draft, value);
      draft.response = value === undefined ? null : storedOf(value);
      this.#end(draft, 'ok');
      return value;
    } catch (failure) {
      this.#fail(draft, failure);
      throw failure;
    }
  }

  async *#stream(draft: Draft, stream: AsyncIterable<string>): AsyncGenerator<string, void, void> {
    const chunks: (readonly [number, string])[] = [];
    draft.kind = 'stream';
    draft.chunks = chunks;
    let isRunning = true;
    try {
      for await (const delta of stream) {
        chunks.push([this.clock.now() - draft.startMs, String(delta)]);
        yield delta;
      }
      isRunning = false;
      this.#end(draft, 'ok');
    } catch (failure) {
      isRunning = false;
      this.#fail(draft, failure);
      throw failure;
    } finally {
      // Who reads a stream may stop in its middle.
      if (isRunning) this.#end(draft, 'cancelled');
    }
  }

  #fail(draft: Draft, failure: unknown): void {
    draft.error = recordedErrorOf(failure);
    this.#end(draft, outcomeOf(draft.error));
  }

  #end(draft: Draft, outcome: Outcome): void {
    this.#tick += 1;
    draft.outcome = outcome;
    draft.end = this.#tick;
    draft.endSeq = this.#seq();
    draft.endMs = this.clock.now();
    if (draft.chunks !== null) draft.response = stringOf(draft.chunks.map(([, delta]) => delta).join(''));
  }

  #seq(): number | null {
    return this.#lines.length === 0 ? null : this.#lines.length;
  }

  #exchanges(match: MatchRules): readonly Exchange[] {
    const groups = overlapping(this.#drafts);
    const ended = [...this.#drafts].sort(
      (left, right) => (left.end ?? Number.MAX_SAFE_INTEGER) - (right.end ?? Number.MAX_SAFE_INTEGER),
    );
    const places = new Map(ended.map((draft, position) => [draft, position + 1]));
    return this.#drafts.map((draft, position) => {
      const request = this.#clean(draft.request);
      const { port, kind, outcome, startSeq, endSeq } = draft;
      return {
        n: position + 1,
        port,
        kind,
        key: exchangeKey(port, request, match),
        request,
        outcome,
        response: draft.response === null ? null : this.#clean(draft.response),
        error: draft.error === null ? null : this.#egress.value(draft.error),
        chunks: this.#cleanChunks(draft.chunks),
        startSeq,
        endSeq,
        startMs: Math.max(draft.startMs - this.#startMs, 0),
        durationMs: Math.max(draft.endMs - draft.startMs, 0),
        parallel: groups[position] ?? 0,
        end: places.get(draft) ?? position + 1,
        isDerived: false,
      };
    });
  }

  #clean(value: StoredValue): StoredValue {
    const { text, changed } = this.#egress.jsonText(storedText(value));
    return changed ? readStored(Buffer.from(text)) : value;
  }

  /** A secret may be cut by chunks: then what came is one chunk. */
  #cleanChunks(chunks: Draft['chunks']): Exchange['chunks'] {
    if (chunks === null) return null;
    const whole = chunks.map(([, delta]) => delta).join('');
    const clean = this.#egress.text(whole);
    return clean === whole ? chunks : [[chunks[0]?.[0] ?? 0, clean]];
  }
}

/** A number for each run of exchanges that overlapped; 0 for one that stood alone. */
function overlapping(drafts: readonly Draft[]): readonly number[] {
  const groups = drafts.map(() => 0);
  let count = 0;
  let reach = 0;
  drafts.forEach(({ start, end }, position) => {
    if (position > 0 && start < reach) {
      if (groups[position - 1] === 0) {
        count += 1;
        groups[position - 1] = count;
      }
      groups[position] = count;
    }
    // What never ended holds nothing up.
    reach = Math.max(reach, end ?? start);
  });
  return groups;
}
