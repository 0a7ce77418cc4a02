import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { leafHash } from '@turnlog/log';
import { type Exchange, exchangeKey, openFixture, readFixture } from '@turnlog/replay';
import { agentPath, caseBytes, filledProgram, ownLines, type TestProgram, turn } from './support.js';

const run = '/fixtures/run';
const names = ['SHA256SUMS', 'events.jsonl', 'exchanges.jsonl', 'fixture.json'] as const;

async function json(
  program: TestProgram,
  ...argv: readonly string[]
): Promise<{ readonly exit: number; readonly document: Parsed }> {
  const { exit, stdout } = await program.run([...argv, '--json']);
  return { exit, document: JSON.parse(stdout) };
}

/** What JSON.parse gives: tests look into it by name. */
type Parsed = ReturnType<typeof JSON.parse>;

const bytesOf = (program: TestProgram, name: string): Uint8Array => program.disk.contentOf(`${run}/${name}`);
const textOf = (program: TestProgram, name: string): string =>
  Buffer.from(bytesOf(program, name)).toString('utf8');

/** Changes a file and makes the sums fit again, as somebody who means it would. */
function forge(program: TestProgram, name: string, change: (text: string) => string): void {
  program.disk.plantFile(`${run}/${name}`, Buffer.from(change(textOf(program, name))));
  const sums = names.slice(1).map((each) => {
    const digest = createHash('sha256').update(bytesOf(program, each)).digest('hex');
    return `${digest}  ${each}\n`;
  });
  program.disk.plantFile(`${run}/SHA256SUMS`, Buffer.from(sums.join('')));
}

test('R-12 a file that is cut, changed or gone ends with 3 and is named; so do a wrong key and a foreign seq', async () => {
  const damages: readonly ((program: TestProgram, path: string, bytes: Uint8Array) => void)[] = [
    (program, path, bytes) => program.disk.plantFile(path, bytes.slice(0, -5)),
    (program, path, bytes) =>
      program.disk.plantFile(
        path,
        bytes.map((byte, at) => (at === 70 ? byte ^ 1 : byte)),
      ),
    (program, path) => program.disk.removeFile(path),
  ];
  for (const name of names) {
    for (const [kind, damage] of damages.entries()) {
      for (const argv of [
        ['fixture', 'check', run],
        ['replay', run, '--module', agentPath],
      ]) {
        const program = await filledProgram();
        damage(program, `${run}/${name}`, bytesOf(program, name));
        const { exit, document } = await json(program, ...argv);
        expect([name, kind, exit, document.error.code]).toEqual([name, kind, 3, 'invalid-fixture']);
        // Sums that are wrong are told by the file that they no longer fit.
        if (name !== 'SHA256SUMS') expect(document.error.details.path).toBe(`${run}/${name}`);
        else expect(document.error.details.path).toMatch(/^\/fixtures\/run\//);
      }
    }
  }
  const forgeries: readonly (readonly [from: RegExp, to: string, rule: string])[] = [
    [/"key":"[0-9a-f]{4}/, '"key":"0000', 'the key of an exchange'],
    [/"start_seq":5/, '"start_seq":77', 'a seq that no record has'],
  ];
  for (const [from, to, rule] of forgeries) {
    const program = await filledProgram();
    forge(program, 'exchanges.jsonl', (text) => text.replace(from, to));
    const { exit, document } = await json(program, 'fixture', 'check', run);
    expect([exit, document.error.details]).toEqual([
      3,
      expect.objectContaining({ path: `${run}/exchanges.jsonl`, rule }),
    ]);
  }
  const foreign = await filledProgram();
  forge(foreign, 'events.jsonl', (text) => text.replace('It is fixed', 'It is mixed'));
  expect(await json(foreign, 'fixture', 'check', run)).toMatchObject({
    exit: 3,
    document: { error: { details: { path: `${run}/events.jsonl`, rule: 'the root of the session' } } },
  });
});

test('R-13, B94 gaps of a session are listed, refused with --strict, and an unfinished call is a recorded error', async () => {
  const program = await filledProgram();
  const orphan = caseBytes('B94-orphan-tool-call', 'events.jsonl');
  program.plant(
    'b94',
    Buffer.concat([
      orphan.subarray(0, orphan.indexOf(0x0a) + 1),
      Buffer.from('no record\n'),
      orphan.subarray(orphan.indexOf(0x0a) + 1),
    ]),
  );
  const made = await json(program, 'fixture', 'make', 'b94', '--out', '/out/b94');
  expect(made).toMatchObject({ exit: 0, document: { complete: false } });
  expect(made.document.gaps).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ reason: 'interrupted', turn: 1 }),
      expect.objectContaining({ reason: 'damage' }),
      expect.objectContaining({ reason: 'no-outcome', seq: 4 }),
    ]),
  );
  expect(await json(program, 'fixture', 'make', 'b94', '--out', '/out/strict', '--strict')).toMatchObject({
    exit: 1,
    document: { error: { code: 'replay-miss' } },
  });
  expect(program.disk.status('/out/strict')).toBeNull();
  expect((await json(program, 'fixture', 'check', '/out/b94')).exit).toBe(0);
  const player = await openFixture('/out/b94', { fs: program.disk });
  await player.model({});
  await expect(player.tool('shell', { command: 'true' })).rejects.toMatchObject({
    name: 'UnfinishedExchange',
  });
});

const toolTurn = (n: number): readonly object[] => [
  { type: 'turn.started' },
  {
    type: 'item.completed',
    item: { id: `t${n}`, type: 'tool_invocation', tool_name: 'read', arguments: { n }, status: 'completed' },
  },
  {
    type: 'item.completed',
    item: {
      id: `t${n}:output`,
      type: 'tool_output',
      call_id: `t${n}`,
      output: `text ${n}`,
      status: 'completed',
    },
  },
  { type: 'turn.completed', usage: { input_tokens: n, output_tokens: n } },
];

/** Plays a fixture of turns of `toolTurn` to its end. */
async function play(
  program: TestProgram,
  path: string,
  turns: readonly number[],
): Promise<readonly unknown[]> {
  const player = await openFixture(path, { fs: program.disk });
  const answers: unknown[] = [];
  for (const n of turns) {
    const [started = { type: '' }, invoked = { type: '' }, , completed = { type: '' }] = toolTurn(n);
    player.log.append({ raw: JSON.stringify(started) });
    await player.model({});
    player.log.append({ raw: JSON.stringify(invoked) });
    answers.push(await player.tool('read', { n }).catch((error: unknown) => error));
    player.log.append({ raw: JSON.stringify(completed) });
  }
  player.finish();
  return answers;
}

test('R-19 turns of a session whose beginning was archived, of an imported one, and of one with a redacted record replay', async () => {
  const program = await filledProgram();
  const events = [1, 2, 3, 4, 5].flatMap(toolTurn);
  await program.run(['record', 'capped', '--max-events', '12'], { stdin: ownLines(events) });
  expect(textOfFile(program, `${program.session('capped')}/events.jsonl`)).toMatch(/^[^\n]*log\.evicted/);
  const made = await json(program, 'fixture', 'make', 'capped', '--turns', '1..2', '--out', '/out/capped');
  expect(made).toMatchObject({ exit: 0, document: { complete: true, from_seq: 2, to_seq: 9 } });
  expect((await json(program, 'fixture', 'check', '/out/capped')).exit).toBe(0);
  expect(await play(program, '/out/capped', [1, 2])).toEqual(['text 1', 'text 2']);
  const whole = await json(program, 'fixture', 'make', 'capped', '--out', '/out/whole');
  expect(whole).toMatchObject({ exit: 0, document: { counts: { turns: 5 } } });
  expect((await json(program, 'fixture', 'check', '/out/whole')).document.root).toBe('verified');

  const foreign = toolTurn(7).map((event) => `${JSON.stringify({ schema_version: '0.18.0', event })}\n`);
  program.disk.plantFile('/foreign/v-1/events.jsonl', Buffer.from(foreign.join('')));
  const imported = await json(program, 'import', '/foreign');
  expect(imported.exit).toBe(0);
  const { sessions } = (await json(program, 'sessions')).document;
  const id = sessions
    .map((each: { readonly id: string }) => each.id)
    .find((each: string) => each.includes('v-1'));
  expect(
    (await json(program, 'fixture', 'make', String(id), '--turns', '1', '--out', '/out/imported')).exit,
  ).toBe(0);
  expect(await play(program, '/out/imported', [7])).toEqual(['text 7']);

  const lines = toolTurn(3).map((event, at) =>
    JSON.stringify({ schema_version: '0.18.0', seq: at + 1, ts: '2026-01-05T10:00:00.000Z', event }),
  );
  const output = Buffer.from(lines[2] ?? '');
  const redaction = {
    type: 'log.redacted',
    leaf: leafHash(output, 0, output.length),
    original_type: 'item.completed',
    length: output.length,
    redacted_at: '2026-01-06T10:00:00.000Z',
  };
  lines[2] = JSON.stringify({
    schema_version: '0.18.0',
    seq: 3,
    ts: '2026-01-05T10:00:00.000Z',
    event: redaction,
  });
  program.plant('redacted', `${lines.join('\n')}\n`);
  const gapped = await json(program, 'fixture', 'make', 'redacted', '--out', '/out/redacted');
  expect(gapped.document.gaps).toMatchObject([
    { reason: 'redacted', seq: 3 },
    { reason: 'no-outcome', exchange: 2 },
  ]);
  expect((await json(program, 'fixture', 'check', '/out/redacted')).document.root).toBe('verified');
  expect(await play(program, '/out/redacted', [3])).toMatchObject([{ name: 'UnfinishedExchange' }]);
});

function textOfFile(program: TestProgram, path: string): string {
  return Buffer.from(program.disk.contentOf(path)).toString('utf8');
}

test('R-18 a fixture as the first version of the format had it still plays, and a newer one is refused by its name', async () => {
  const program = await filledProgram();
  expect(await json(program, 'replay', run, '--module', agentPath)).toMatchObject({
    exit: 0,
    document: { served: 3 },
  });
  forge(program, 'fixture.json', (text) => text.replace('"schema_version":1', '"schema_version":2'));
  const { exit, document } = await json(program, 'replay', run, '--module', agentPath);
  expect([exit, document.error.details]).toEqual([
    3,
    expect.objectContaining({ name: 's-1', schemaVersion: 2 }),
  ]);
  expect(document.error.message).toContain('s-1');
});

test('R-17 --shrink names the fewest last turns that diverge alike, and fewer do not', async () => {
  const program = await filledProgram();
  const turns = [1, 2, 3, 4].flatMap((n) => [
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: `i${n}`, type: 'agent_message', text: `turn ${n}` } },
    { type: 'turn.completed', usage: { input_tokens: 0, output_tokens: 0 } },
  ]);
  await program.fill('s-4', turns);
  await program.run(['fixture', 'make', 's-4', '--out', '/out/s-4']);
  forgetCalls(program, '/out/s-4');
  const module = resolve(__dirname, 'agents/turns.cjs');
  const { exit, document } = await json(program, 'replay', '/out/s-4', '--module', module, '--shrink');
  expect([exit, document.divergence.kind, document.shrunk]).toEqual([1, 'event-differs', { from: 2, to: 4 }]);
  for (const [range, kind] of [
    ['2..4', 'event-differs'],
    ['3..4', undefined],
    ['4..4', undefined],
  ] as const) {
    program.disk.plantDirectory(`/out/${range}`);
    for (const name of names)
      program.disk.plantFile(`/out/${range}/${name}`, program.disk.contentOf(`/out/s-4/${name}`));
    await program.run(['fixture', 'trim', `/out/${range}`, '--turns', range]);
    const again = await json(program, 'replay', `/out/${range}`, '--module', module);
    expect([range, again.document.divergence?.kind]).toEqual([range, kind]);
  }
});

/** The agent of that test asks no model, so its fixture holds no answers. */
function forgetCalls(program: TestProgram, path: string): void {
  const description = textOfFile(program, `${path}/fixture.json`).replace(/"exchanges":\d+/, '"exchanges":0');
  program.disk.plantFile(`${path}/fixture.json`, Buffer.from(description));
  program.disk.plantFile(`${path}/exchanges.jsonl`, Buffer.from(''));
  const sums = names.slice(1).map((name) => {
    const digest = createHash('sha256')
      .update(program.disk.contentOf(`${path}/${name}`))
      .digest('hex');
    return `${digest}  ${name}\n`;
  });
  program.disk.plantFile(`${path}/SHA256SUMS`, Buffer.from(sums.join('')));
}

test('RE-11: rekey computes keys anew after the rules were changed, and check refuses what it has not seen', async () => {
  const program = await filledProgram();
  const edited = textOf(program, 'fixture.json').replace('"tool":["name","arguments"]', '"tool":["name"]');
  program.disk.plantFile(`${run}/fixture.json`, Buffer.from(edited));
  expect((await json(program, 'fixture', 'check', run)).exit).toBe(3);
  expect((await json(program, 'fixture', 'rekey', run)).exit).toBe(0);
  expect((await json(program, 'fixture', 'check', run)).exit).toBe(0);
  const { exchanges, description } = readFixture(program.disk, run);
  expect(description.match['tool']).toEqual(['name']);
  const keyOf = ({ port, request }: Exchange): string => exchangeKey(port, request, description.match);
  expect(exchanges.map(({ key }) => key)).toEqual(exchanges.map(keyOf));
});

test('RE-8: without the redactor nothing is made inside of a work tree of git, unless that is forced', async () => {
  const program = await filledProgram();
  await program.fill('s-9', turn);
  program.disk.plantDirectory('/out/.git');
  const argv = ['fixture', 'make', 's-9', '--out', '/out/s-9', '--no-redact'];
  expect(await json(program, ...argv)).toMatchObject({ exit: 9, document: { error: { code: 'needs-yes' } } });
  expect(program.disk.status('/out/s-9')).toBeNull();
  expect((await json(program, ...argv, '--force')).exit).toBe(0);
});

test('RE-8: what a pattern of the user finds is not in the fixture, and the code replays under the same configuration', async () => {
  const program = await filledProgram();
  for (const path of ['/u', '/u/ann', '/u/ann/.config', '/u/ann/.config/turnlog'])
    program.disk.plantDirectory(path);
  const settings = JSON.stringify({ redaction_patterns: ['Köln', 'pnpm \\w+'] });
  program.disk.plantFile('/u/ann/.config/turnlog/config.json', Buffer.from(settings));
  expect((await json(program, 'fixture', 'make', 's-1', '--out', '/out/s-1')).exit).toBe(0);
  expect(textOfFile(program, '/out/s-1/events.jsonl')).not.toContain('Köln');
  const line = ['replay', '/out/s-1', '--module', agentPath] as const;
  expect(await json(program, ...line)).toMatchObject({ exit: 0, document: { divergence: null, served: 3 } });
  const elsewhere = { env: { TURNLOG_CONFIG: '/u/ann/none.json' } };
  const { exit, stdout } = await program.run([...line, '--json'], elsewhere);
  expect([exit, JSON.parse(stdout).divergence.at.seq]).toEqual([1, 2]);
});
