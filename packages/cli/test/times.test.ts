import { caseBytes, TestProgram } from './support.js';

const id = 's';
const valid = '2026-01-05T10:00:08.000Z';

/** Times −1, 1e20, empty, words, 30 February, null and missing, then one that is a time. */
function badTimes(): TestProgram {
  const program = new TestProgram();
  program.plant(id, caseBytes('B49-bad-timestamps', 'events.jsonl'));
  return program;
}

async function printed(program: TestProgram, argv: readonly string[]): Promise<string> {
  const { exit, stdout, stderr } = await program.run(argv, { columns: 120 });
  expect([argv, exit, stderr]).toEqual([argv, 0, '']);
  return stdout;
}

const neverShown = /1970|NaN|Invalid|RangeError|-0001|\+\d{6}-|2026-03-02/;
const unknownTimes = (text: string): number => text.match(/unknown time/g)?.length ?? 0;
const numbers = (text: string, form: RegExp): readonly number[] =>
  [...text.matchAll(form)].map(([, found]) => Number(found));
const eight = [1, 2, 3, 4, 5, 6, 7, 8];

interface Timed {
  readonly seq: number;
  readonly ts: string | null;
}

/** Every verb that shows a session or a part of it, and what each makes of the seven. A new one joins here. */
const surfaces: readonly (readonly [argv: readonly string[], check: (text: string) => void])[] = [
  [['sessions'], (text) => expect(text).toContain('2026-01-05 10:00:08')],
  [
    ['sessions', '--json'],
    (text) =>
      expect(JSON.parse(text).sessions).toMatchObject([{ events: 8, first_ts: valid, last_ts: valid }]),
  ],
  [['sessions', '--since', '2026-01-05'], (text) => expect(text).toContain('10:00:08')],
  [
    ['show', id],
    (text) => {
      expect(unknownTimes(text)).toBe(7);
      expect(numbers(text, /^ *(\d+) +(?:unknown time|10:00:08) /gm)).toEqual(eight);
    },
  ],
  [
    ['show', id, '--json'],
    (text) => {
      const { records }: { readonly records: readonly Timed[] } = JSON.parse(text);
      expect(records.map(({ seq, ts }) => [seq, ts])).toEqual(
        eight.map((seq) => [seq, seq === 8 ? valid : null]),
      );
    },
  ],
  [
    ['show', id, '--since', '2000-01-01', '--json'],
    (text) => expect(JSON.parse(text).records.map(({ seq }: Timed) => seq)).toEqual([8]),
  ],
  [['tail', id, '-n', '9'], (text) => expect(unknownTimes(text)).toBe(7)],
  [
    ['tail', id, '-n', '9', '--json'],
    (text) => expect(JSON.parse(text).records.filter(({ ts }: Timed) => ts === null)).toHaveLength(7),
  ],
  [['stats', '--by', 'day'], (text) => expect(text).toMatch(/^2026-01-05 [\s\S]*^unknown /m)],
  [
    ['stats', '--by', 'day', '--json'],
    (text) =>
      expect(JSON.parse(text)).toMatchObject({
        rows: [
          { day: '2026-01-05', events: 1 },
          { day: 'unknown', events: 7 },
        ],
        total: { events: 8 },
      }),
  ],
  [
    ['stats', '--since', '2000-01-01', '--json'],
    (text) => expect(JSON.parse(text)).toMatchObject({ total: { events: 1 }, unknown_time: { events: 7 } }),
  ],
  [
    ['export', id, '--format', 'md'],
    (text) => {
      expect(unknownTimes(text)).toBe(7);
      expect(numbers(text, /<sub>#(\d+) /g)).toEqual(eight);
      expect(text).toMatch(new RegExp(`started: ${valid}\nended: ${valid}\n`));
    },
  ],
  [
    ['export', id, '--format', 'html'],
    (text) => {
      expect(unknownTimes(text)).toBe(7);
      expect(numbers(text, /<article id="s(\d+)"/g)).toEqual(eight);
    },
  ],
  [
    ['export', id, '--format', 'jsonl'],
    (text) => expect(text).toBe(caseBytes('B49-bad-timestamps', 'events.jsonl').toString()),
  ],
  [
    ['export', id, '--format', 'atif'],
    (text) => {
      const { steps }: { readonly steps: readonly { readonly timestamp?: string | null }[] } =
        JSON.parse(text);
      expect(steps.map(({ timestamp }) => timestamp ?? null)).toEqual([...Array<null>(7).fill(null), valid]);
    },
  ],
  [
    // Spans are of turns, of which there are none.
    ['export', id, '--format', 'otlp', '--content'],
    (text) => expect(text).not.toContain('TimeUnixNano'),
  ],
  [['export', id, '--format', 'agent-trace'], (text) => expect(text).toBe('')],
  [
    ['rebuild', id, '--json'],
    (text) => expect(JSON.parse(text)).toMatchObject({ summary: { sessions: 1, failed: 0, drift: 0 } }),
  ],
  [['doctor', '--deep', '--json'], (text) => expect(JSON.parse(text)).toMatchObject({ schema_version: 1 })],
];

const numericTimes: readonly (readonly [stated: string, ts: string | null])[] = [
  ['1767607200', '2026-01-05T10:00:00.000Z'],
  ['1767607200.25', '2026-01-05T10:00:00.250Z'],
  ['1767607200123', '2026-01-05T10:00:00.123Z'],
  ['1.767607200123e12', '2026-01-05T10:00:00.123Z'],
  ['946684800', '2000-01-01T00:00:00.000Z'],
  ['946684800000', '2000-01-01T00:00:00.000Z'],
  ['4102444799', '2099-12-31T23:59:59.000Z'],
  ['4102444799999', '2099-12-31T23:59:59.999Z'],
  ['"2026-01-05T11:00:00.5+01:00"', '2026-01-05T10:00:00.500Z'],
  ['946684799', null],
  ['946684799999', null],
  ['4102444801', null],
  ['4102444800001', null],
  ['1767607200123000', null],
  ['0', null],
  ['-1', null],
  ['1e20', null],
  ['1e400', null],
  ['"1767607200"', null],
  ['""', null],
  ['"yesterday"', null],
  ['"2026-02-30T10:00:00.000Z"', null],
  ['null', null],
  ['{}', null],
];

const thread = '11111111-1111-4111-8111-111111111111';

const claudeFile = (stated: string): string =>
  `{"parentUuid":null,"isSidechain":false,"cwd":"/r","sessionId":"${thread}","version":"2.1.90","type":"user","message":{"role":"user","content":"x"},"uuid":"u1","timestamp":${stated}}\n`;
const codexFile = (stated: string): string =>
  `{"timestamp":${stated},"type":"session_meta","payload":{"id":"${thread}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/r","originator":"c","cli_version":"0.118.0"}}\n{"timestamp":${stated},"type":"event_msg","payload":{"type":"user_message","message":"x"}}\n`;

interface ImportedRecord extends Timed {
  readonly type: string;
}

/** The time of the prompt of a file that says `stated`, when it is imported alone. */
async function importedTime(name: string, content: string): Promise<string | null> {
  const program = new TestProgram();
  program.disk.plantDirectory('/foreign');
  program.disk.plantFile(`/foreign/${name}`, Buffer.from(content));
  await printed(program, ['import', '/foreign', '--final', '--json']);
  const { sessions } = JSON.parse(await printed(program, ['sessions', '--include-hidden', '--json']));
  const [session = ''] = sessions.map((each: { readonly id: string }) => each.id);
  const { records }: { readonly records: readonly ImportedRecord[] } = JSON.parse(
    await printed(program, ['show', session, '--json']),
  );
  const prompt = records.find(({ type }) => type === 'user.message');
  if (prompt === undefined) throw new Error('the prompt was not imported');
  return prompt.ts;
}

test('I-18, B49: what is no time is unknown in every view and listing, in order of seq; numbers are times on import', async () => {
  const program = badTimes();
  for (const [argv, check] of surfaces) {
    const text = await printed(program, argv);
    expect([argv, neverShown.exec(argv.includes('jsonl') ? '' : text)?.[0]]).toEqual([argv, undefined]);
    check(text);
  }
  const derived = program.disk.list(`${program.session(id)}/derived`).map(({ name }) => name);
  expect(derived).toEqual(
    expect.arrayContaining(['activity.json', 'memory.json', 'progress.json', 'usage.json']),
  );
  for (const name of derived) {
    const text = Buffer.from(program.disk.contentOf(`${program.session(id)}/derived/${name}`)).toString();
    expect([name, neverShown.exec(text)?.[0]]).toEqual([name, undefined]);
    const { records, generated_at } = JSON.parse(text);
    if (name === 'activity.json') expect(records).toEqual(expect.arrayContaining([[null, 7]]));
    if (name === 'memory.json') expect(generated_at).toBe(valid);
  }
  for (const [stated, ts] of numericTimes) {
    expect([stated, await importedTime(`${thread}.jsonl`, claudeFile(stated))]).toEqual([stated, ts]);
    const rollout = `rollout-2026-01-05T10-00-00-${thread}.jsonl`;
    expect([stated, await importedTime(rollout, codexFile(stated))]).toEqual([stated, ts]);
  }
});
