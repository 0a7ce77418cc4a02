import { collectStatistics, type ExportFormat } from '@turnlog/views';
import fc from 'fast-check';
import { murmur3 } from '../src/exports/murmur3.js';
import { spanId, traceId } from '../src/exports/otlp-span.js';
import { addedRanges } from '../src/exports/unified-diff.js';
import { arbitraryLines } from './arbitrary-log.js';
import {
  exported,
  goldenCase,
  invocation,
  item,
  message,
  output,
  redactor,
  said,
  sessionOf,
} from './exports-support.js';
import {
  answer,
  knownLogs,
  line,
  logOf,
  TestStore,
  turnCompleted,
  turnStarted,
  usage,
  utc,
} from './support.js';

type Json = Record<string, unknown>;
type Check = (value: unknown, place: string) => void;

/** A small validator of JSON: every member is listed, with what it must be; `?` marks those that may be absent. */
const text: Check = (value, place) => expect([place, typeof value]).toEqual([place, 'string']);
const whole: Check = (value, place) =>
  expect([place, typeof value === 'number' && value >= 0 && Number.isInteger(value)]).toEqual([place, true]);
const number: Check = (value, place) => expect([place, typeof value]).toEqual([place, 'number']);
const anyObject: Check = (value, place) =>
  expect([place, typeof value === 'object' && value !== null && !Array.isArray(value)]).toEqual([
    place,
    true,
  ]);
const matching =
  (form: RegExp): Check =>
  (value, place) =>
    expect(`${place} ${String(value)}`).toMatch(
      new RegExp(`^${place.replace(/[.[\]]/g, '\\$&')} ${form.source}$`),
    );
const list =
  (entry: Check): Check =>
  (value, place) => {
    expect([place, Array.isArray(value)]).toEqual([place, true]);
    (value as unknown[]).forEach((one, index) => {
      entry(one, `${place}[${index}]`);
    });
  };
const object =
  (members: Readonly<Record<string, Check>>): Check =>
  (value, place) => {
    anyObject(value, place);
    const given = value as Json;
    const known = Object.keys(members).map((name) => name.replace('?', ''));
    for (const name of Object.keys(given)) expect([...known]).toContain(name);
    for (const [name, check] of Object.entries(members)) {
      const plain = name.replace('?', '');
      if (Object.hasOwn(given, plain)) check(given[plain], `${place}.${plain}`);
      else if (!name.endsWith('?')) throw new Error(`${place} has no ${plain}`);
    }
  };

const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;

/** ATIF-v1.4, from its tables. */
const trajectory = object({
  schema_version: matching(/ATIF-v1\.4/),
  session_id: text,
  agent: object({ name: text, version: text, 'model_name?': text, 'extra?': anyObject }),
  steps: list(
    object({
      step_id: whole,
      'timestamp?': matching(time),
      source: matching(/(?:system|user|agent)/),
      'model_name?': text,
      message: text,
      'reasoning_content?': text,
      'tool_calls?': list(object({ tool_call_id: text, function_name: text, arguments: anyObject })),
      'observation?': object({
        results: list(object({ 'source_call_id?': text, 'content?': text })),
      }),
      'metrics?': object({
        'prompt_tokens?': whole,
        'completion_tokens?': whole,
        'cached_tokens?': whole,
        'cost_usd?': number,
        'extra?': anyObject,
      }),
      'extra?': anyObject,
    }),
  ),
  'notes?': text,
  'final_metrics?': object({
    'total_prompt_tokens?': whole,
    'total_completion_tokens?': whole,
    'total_cached_tokens?': whole,
    'total_cost_usd?': number,
    'total_steps?': whole,
    'extra?': anyObject,
  }),
  'extra?': anyObject,
});

interface Step {
  readonly step_id: number;
  readonly source: string;
  readonly message: string;
  readonly reasoning_content?: string;
  readonly timestamp?: string;
  readonly tool_calls?: readonly {
    readonly tool_call_id: string;
    readonly function_name: string;
    readonly arguments: Json;
  }[];
  readonly observation?: {
    readonly results: readonly { readonly source_call_id?: string; readonly content?: string }[];
  };
  readonly metrics?: Json;
}

interface Trajectory {
  readonly steps: readonly Step[];
  readonly notes: string;
  readonly final_metrics: Json;
}

function checkTrajectory(document: string): Trajectory {
  const value = JSON.parse(document) as Trajectory;
  trajectory(value, 'atif');
  value.steps.forEach((step, index) => {
    expect(step.step_id).toBe(index + 1);
    if (step.source !== 'agent') {
      expect([step.tool_calls, step.metrics, step.reasoning_content]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    }
    const calls = (step.tool_calls ?? []).map(({ tool_call_id }) => tool_call_id);
    for (const { source_call_id } of step.observation?.results ?? []) {
      if (source_call_id !== undefined) expect([...calls]).toContain(source_call_id);
    }
    for (const call of calls) {
      expect(step.observation?.results.map(({ source_call_id }) => source_call_id)).toContain(call);
    }
  });
  return value;
}

/** Agent Trace 0.1.0, from its schema. */
const contributor = object({ type: matching(/(?:human|ai|mixed|unknown)/), 'model_id?': text });
const traceRecord = object({
  version: matching(/0\.1\.0/),
  id: matching(/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/),
  timestamp: matching(time),
  'vcs?': object({ type: matching(/(?:git|jj|hg|svn)/), revision: text }),
  'tool?': object({ 'name?': text, 'version?': text }),
  files: list(
    object({
      path: text,
      conversations: list(
        object({
          'url?': text,
          'contributor?': contributor,
          ranges: list(
            object({
              start_line: whole,
              end_line: whole,
              'content_hash?': matching(/murmur3:[0-9a-f]{8}/),
              'contributor?': contributor,
            }),
          ),
        }),
      ),
    }),
  ),
  'metadata?': anyObject,
});

function checkTrace(document: string): readonly Json[] {
  const records = document
    .split('\n')
    .filter((one) => one !== '')
    .map((one) => JSON.parse(one) as Json);
  records.forEach((record, index) => {
    traceRecord(record, `trace${index}`);
  });
  return records;
}

/** OTLP/JSON of traces: 64-bit integers are texts, enums numbers, ids hex. */
const attributeList = list(
  object({
    key: text,
    value: object({
      'stringValue?': text,
      'boolValue?': (value, place) => expect([place, typeof value]).toEqual([place, 'boolean']),
      'intValue?': matching(/-?\d+/),
      'doubleValue?': number,
    }),
  }),
);
const otlpRequest = object({
  resourceSpans: list(
    object({
      resource: object({ attributes: attributeList }),
      scopeSpans: list(
        object({
          scope: object({ name: text, version: text }),
          spans: list(
            object({
              traceId: matching(/[0-9a-f]{32}/),
              spanId: matching(/[0-9a-f]{16}/),
              'parentSpanId?': matching(/[0-9a-f]{16}/),
              name: text,
              kind: whole,
              startTimeUnixNano: matching(/\d+/),
              endTimeUnixNano: matching(/\d+/),
              attributes: attributeList,
              'links?': list(object({ traceId: matching(/[0-9a-f]{32}/), spanId: matching(/[0-9a-f]{16}/) })),
              'status?': object({ code: whole, 'message?': text }),
            }),
          ),
          schemaUrl: matching(/https:\/\/opentelemetry\.io\/schemas\/1\.37\.0/),
        }),
      ),
      schemaUrl: text,
    }),
  ),
});

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Json }[];
  readonly links?: readonly Json[];
  readonly status?: Json;
}

function checkOtlp(document: string): readonly OtlpSpan[] {
  const value: unknown = JSON.parse(document);
  otlpRequest(value, 'otlp');
  const { resourceSpans } = value as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] };
  const spans = resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
  const ids = new Set(spans.map((span) => span.spanId));
  for (const span of spans) {
    expect([1, 3]).toContain(span.kind);
    expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
    if (span.parentSpanId !== undefined) expect(ids.has(span.parentSpanId)).toBe(true);
    const keys = span.attributes.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  }
  return spans;
}

function attribute({ attributes }: OtlpSpan, key: string): unknown {
  return Object.values(attributes.find((one) => one.key === key)?.value ?? {})[0];
}

function tokens(spans: readonly OtlpSpan[], key: string): bigint {
  return spans.reduce((sum, span) => sum + BigInt(String(attribute(span, key) ?? 0)), 0n);
}

async function storeOf(bytes: string | Uint8Array): Promise<TestStore> {
  const test = await TestStore.make();
  test.plant('s-1', bytes);
  return test;
}

/** Checks all three documents of a session, and that they use what its statistics say. */
async function checkDocuments(test: TestStore): Promise<void> {
  const { total } = await collectStatistics(test.store, { zone: utc });
  const atif = exported(test, 's-1', 'atif', {}, redactor).text;
  checkTrajectory(atif);
  const stated = (name: string): bigint => BigInt(new RegExp(`"${name}":(\\d+)`).exec(atif)?.[1] ?? 0);
  expect(stated('total_prompt_tokens')).toBe(total.usage?.input ?? 0n);
  expect(stated('total_completion_tokens')).toBe(total.usage?.output ?? 0n);
  expect(stated('total_cached_tokens')).toBe(total.usage?.cached ?? 0n);
  checkTrace(exported(test, 's-1', 'agent-trace', {}, redactor).text);
  for (const content of [true, false]) {
    const spans = checkOtlp(exported(test, 's-1', 'otlp', { content }, redactor).text);
    expect(tokens(spans, 'gen_ai.usage.input_tokens')).toBe(total.usage?.input ?? 0n);
    expect(tokens(spans, 'gen_ai.usage.output_tokens')).toBe(total.usage?.output ?? 0n);
  }
}

const derived: readonly ExportFormat[] = ['atif', 'agent-trace', 'otlp'];

test('I-14 ATIF, Agent Trace and OTLP validate; ids are repeatable; usage is that of stats; hashes are those of the vectors', async () => {
  const logs = [
    // Pieces of a log are none.
    ...knownLogs().flatMap(({ name, bytes }) => (name.endsWith('.bin') ? [] : [bytes])),
    sessionOf('<b>"x"</b> \ud83d'),
    logOf([
      turnStarted,
      said('x'),
      answer('a-1', 5, 6),
      answer('a-1', 7, 8),
      answer('a-2', 1, 1),
      turnCompleted(8, 9),
    ]),
    logOf([
      turnStarted,
      { type: 'turn.blocked', message: 'm', usage: usage(3, 4) },
      { type: 'turn.failed', message: 'f' },
    ]),
    logOf([
      turnStarted,
      message('a', 'x'),
      {
        type: 'thread.completed',
        thread_id: 't',
        session_id: 's',
        subtype: 'success',
        outcome_code: 'ok',
        usage: usage(11, 12),
        num_turns: 1,
      },
    ]),
    line(1, message('a', 'no time'), null),
  ];
  for (const bytes of logs) {
    const test = await storeOf(bytes);
    await checkDocuments(test);
    for (const format of derived) {
      expect(exported(test, 's-1', format).text).toBe(exported(await storeOf(bytes), 's-1', format).text);
    }
  }
  expect(traceId('s-7')).toBe('26b3f73c83468ed064c7aa886ce02421');
  expect(spanId('s-7', 12)).toBe('a80dac70aa5870b5');
  const hashes: readonly (readonly [string, string])[] = [
    ['', '00000000'],
    ['a', '3c2569b2'],
    ['hello world', '5e928f0f'],
    ['é', '10110787'],
  ];
  for (const [content, hash] of hashes) expect(murmur3(new TextEncoder().encode(content))).toBe(hash);
}, 60_000);

test('whatever a log holds, the documents validate and use what its statistics say', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryLines, async (lines) => {
      await checkDocuments(await storeOf(lines.join('')));
    }),
    { numRuns: 60 },
  );
}, 60_000);

test('ATIF: who speaks, what is called, and what came of it', async () => {
  const test = await storeOf(
    logOf([
      { type: 'run.started', program: 'agent-x', version: '2.0', cwd: '/srv/x' },
      turnStarted,
      said('do it'),
      said('from elsewhere', 'injected'),
      item({ id: 'r', type: 'reasoning', text: 'hm' }),
      invocation('t1', 'shell', { tool_call_id: 'c1', arguments: { n: 1 } }),
      invocation('t2', 'lost', { status: 'in_progress', arguments: [1] }),
      message('a', 'done'),
      output('t1', 'fine'),
      { type: 'x.acme.thing' },
      { type: 'turn.blocked', message: 'too many', usage: usage(3, 4) },
      { type: 'turn.failed', message: 'gave up', usage: usage(3, 4) },
    ]),
  );
  const { steps, notes, final_metrics } = checkTrajectory(exported(test, 's-1', 'atif').text);
  expect(steps.map(({ source, message: words }) => [source, words])).toEqual([
    ['user', 'do it'],
    ['system', 'from elsewhere'],
    ['agent', ''],
    ['agent', 'done'],
    ['system', 'Turn failed: gave up (blocked: too many)'],
    ['agent', ''],
  ]);
  expect(steps[2]).toMatchObject({
    timestamp: '2026-01-05T10:00:06.000Z',
    reasoning_content: 'hm',
    tool_calls: [{ tool_call_id: 'c1', function_name: 'shell', arguments: { n: 1 } }],
    observation: { results: [{ source_call_id: 'c1', content: 'fine' }] },
    metrics: { prompt_tokens: 3, completion_tokens: 4 },
  });
  expect(steps[5]).toMatchObject({
    tool_calls: [{ function_name: 'lost', arguments: { value: [1] } }],
    observation: { results: [{ content: 'No output of this call is on record (in_progress).' }] },
  });
  expect(steps.filter(({ metrics }) => metrics !== undefined)).toHaveLength(1);
  expect(notes).toContain('x.acme.thing 1');
  expect(final_metrics).toMatchObject({ total_prompt_tokens: 3, total_completion_tokens: 4, total_steps: 6 });
});

test('ATIF keeps the digits of numbers', async () => {
  const test = await storeOf(goldenCase('B44-big-integers'));
  expect(exported(test, 's-1', 'atif').text).toContain(
    '"arguments":{"id":2512292042121000001,"ratio":1e400,"zero":-0,"one":1.0,"safe":9007199254740991}',
  );
});

test('Agent Trace: ranges of the new file, and only of changes that were made', async () => {
  const diff =
    '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,3 @@\n+a\n x\n-y\n+hello world\n@@ -9 +10,2 @@\n z\n++++ b/not-a-header\n';
  const test = await storeOf(
    logOf([
      { type: 'run.started', program: 'agent-x', version: '2.0', cwd: '/srv/x', model: 'm-1' },
      turnStarted,
      item({
        id: 'f',
        type: 'file_change',
        status: 'completed',
        unified_diff: diff,
        changes: [{ path: '/srv/x/src/a.ts', kind: 'update' }],
      }),
      item({
        id: 'g',
        type: 'file_change',
        status: 'failed',
        unified_diff: diff,
        changes: [{ path: 'src/a.ts', kind: 'update' }],
      }),
      item({
        id: 'h',
        type: 'file_change',
        status: 'completed',
        changes: [{ path: 'gone.ts', kind: 'delete' }],
      }),
      item({ id: 'i', type: 'file_change', status: 'completed', changes: [{ path: 'b.ts', kind: 'add' }] }),
    ]),
  );
  const records = checkTrace(exported(test, 's-1', 'agent-trace').text);
  expect(records).toHaveLength(2);
  expect(records[0]).toMatchObject({
    tool: { name: 'agent-x', version: '2.0' },
    files: [
      {
        path: '/srv/x/src/a.ts',
        conversations: [
          {
            url: 'turnlog:s-1#3',
            contributor: { type: 'ai', model_id: 'm-1' },
            ranges: [
              { start_line: 1, end_line: 1, content_hash: 'murmur3:3c2569b2' },
              { start_line: 3, end_line: 3, content_hash: 'murmur3:5e928f0f' },
              { start_line: 11, end_line: 11 },
            ],
          },
        ],
      },
    ],
  });
});

test('what is no diff adds nothing, whatever it looks like', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('@@ -1 +1 @@', '@@ -1,9 +1,9 @@', '+a', '-b', ' c', '+++ b/x', '', '\\ x'), {
        maxLength: 20,
      }),
      (lines) => {
        for (const { ranges } of addedRanges(lines.join('\n'))) {
          for (const range of ranges) {
            expect(range.endLine - range.startLine + 1).toBe(range.lines.length);
            expect(range.startLine).toBeGreaterThanOrEqual(1);
          }
        }
      },
    ),
  );
});

test('OTLP: turns, answers and calls; a sub-agent is linked to the call that started it', async () => {
  const test = await TestStore.make();
  test.plant(
    'parent',
    logOf([
      turnStarted,
      invocation('t', 'task', { tool_call_id: 'call-9' }),
      output('t', 'x'),
      turnCompleted(1, 1),
    ]),
  );
  test.plant(
    's-1',
    logOf([
      {
        type: 'run.started',
        program: 'a',
        cwd: '/srv/x',
        agent: 'subagent',
        parent: { session: 'parent', call_id: 'call-9' },
      },
      turnStarted,
      said('secret plan'),
      answer('a-1', 5, 6),
      invocation('t', 'shell', { tool_call_id: 'c1', arguments: { command: 'rm' } }),
      output('t', 'no', { status: 'failed' }),
      turnCompleted(5, 6),
    ]),
  );
  const spans = checkOtlp(exported(test, 's-1', 'otlp').text);
  expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
    ['chat m-1', 3],
    ['execute_tool shell', 1],
    ['invoke_agent', 1],
  ]);
  const [chat, tool, turn] = spans as [OtlpSpan, OtlpSpan, OtlpSpan];
  expect(turn.links).toEqual([{ traceId: traceId('parent'), spanId: spanId('parent', 2) }]);
  expect([chat.parentSpanId, tool.parentSpanId, turn.parentSpanId]).toEqual([
    turn.spanId,
    turn.spanId,
    undefined,
  ]);
  expect(turn.spanId).toBe(spanId('s-1', 2));
  expect(attribute(chat, 'gen_ai.usage.input_tokens')).toBe('5');
  expect(attribute(turn, 'gen_ai.usage.input_tokens')).toBeUndefined();
  expect(attribute(tool, 'gen_ai.tool.call.id')).toBe('c1');
  expect(attribute(tool, 'error.type')).toBe('tool_error');
  expect(tool.status).toEqual({ code: 2, message: 'failed' });
  expect([tool.startTimeUnixNano, tool.endTimeUnixNano]).toEqual([
    '1767607205000000000',
    '1767607206000000000',
  ]);
  expect(exported(test, 's-1', 'otlp').text).not.toMatch(/secret plan|"no"|rm/);
  expect(exported(test, 's-1', 'otlp', { content: true }).text).toMatch(/secret plan/);
});

test('OTLP: a record without time gets that of its neighbour, and says so', async () => {
  const test = await storeOf(
    `${line(1, turnStarted)}${line(2, { type: 'run.started', program: 'a', cwd: '/', model: 'm' }, null)}${line(3, message('a', 'x'), null)}`,
  );
  const [chat] = checkOtlp(exported(test, 's-1', 'otlp').text);
  if (chat === undefined) throw new Error('there is no answer');
  expect(chat.startTimeUnixNano).toBe('1767607201000000000');
  expect(attribute(chat, 'turnlog.time_unknown')).toBe(true);
});
