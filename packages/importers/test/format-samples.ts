/** One small source of every format that is imported, made by hand. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadA, handMade as transcript } from './claude-lines.js';
import { linesOf } from './stream-lines.js';
import { handMade as rollout } from './thread-samples.js';
import { threadLine, turnLines } from './vtcode-files.js';
import { archive, archiveName, history, memory, told, trajectory } from './vtcode-samples.js';

const golden = join(__dirname, '..', '..', '..', 'test', 'golden', 'importers', 'claude-stream', 'sub-agent');

/** A saved run of `codex exec`. */
export function savedRun(): Uint8Array {
  const item = (id: string, more: object): object => ({
    id,
    type: 'command_execution',
    command: 'ls',
    ...more,
  });
  return linesOf(
    { type: 'thread.started', thread_id: 't-1' },
    { type: 'turn.started' },
    { type: 'item.started', item: item('item_0', { status: 'in_progress' }) },
    { type: 'item.completed', item: item('item_0', { aggregated_output: 'a é', exit_code: 0 }) },
    { type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text: 'a' } },
    { type: 'turn.completed', usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 2 } },
  );
}

export interface FormatSample {
  readonly format: string;
  /** The name that its agent would give it. */
  readonly file: string;
  readonly bytes: Uint8Array;
  /** `lines`: grows by lines. `log`: so too, but a grown one is a further session. `document`: is written anew. */
  readonly growth: 'lines' | 'log' | 'document';
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

export const formatSamples: readonly FormatSample[] = [
  { format: 'claude-code', file: `${threadA}.jsonl`, bytes: transcript(), growth: 'lines' },
  { format: 'codex-rollout', file: 'one.jsonl', bytes: rollout(), growth: 'lines' },
  { format: 'codex-exec', file: 'run.jsonl', bytes: savedRun(), growth: 'lines' },
  {
    format: 'claude-stream',
    file: 'stream.jsonl',
    bytes: readFileSync(join(golden, 'input.jsonl')),
    growth: 'lines',
  },
  {
    format: 'vtcode',
    file: 'harness-session-1.jsonl',
    bytes: encode(threadLine + turnLines('one') + turnLines('two é')),
    growth: 'log',
  },
  { format: 'vtcode-archive', file: `${archiveName}.json`, bytes: archive(), growth: 'document' },
  {
    format: 'vtcode-history',
    file: 's-1_0003_20260312T113600Z.jsonl',
    bytes: history(3, ...told),
    growth: 'lines',
  },
  { format: 'vtcode-memory', file: 's-1.memory.json', bytes: memory('s-1', 'so far'), growth: 'document' },
  { format: 'vtcode-trajectory', file: 'trajectory.jsonl', bytes: trajectory, growth: 'lines' },
];

export type SampleRow = readonly [format: string, sample: FormatSample];

export function rowsOf(...growths: readonly FormatSample['growth'][]): readonly SampleRow[] {
  return formatSamples
    .filter(({ growth }) => growths.includes(growth))
    .map((sample) => [sample.format, sample]);
}
