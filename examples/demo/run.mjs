// Records a whole agent run through the pipe of the command line, kills the recorder in the middle of it, goes on
// with a second one, and checks that nothing was lost and nothing is there twice. No network, no key.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const program = join(here, '../../packages/cli/dist/bin.js');
const root = mkdtempSync(join(tmpdir(), 'turnlog-demo-'));
const session = 'demo';

const say = (text = '') => process.stdout.write(`${text}\n`);

if (!existsSync(program)) {
  say('The program is not built yet: run `pnpm demo`, or `pnpm build` first.');
  process.exit(1);
}

/** The lines of the agent, each with a key, so that one which is sent twice is stored once. */
const lines = readFileSync(join(here, 'agent-run.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line, index) => `${line.slice(0, -1)},"key":"line-${index + 1}"}\n`);

/** Runs a command of turnlog and gives its answer. */
function ask(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--root', root, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, stdout, stderr };
}

/** Runs a command and shows it as somebody at a terminal would see it. */
function showing(...args) {
  say(`$ turnlog ${args.join(' ')}`);
  const env = { ...process.env, COLUMNS: String(process.stdout.columns ?? 100) };
  if (process.stdout.isTTY) env.CLICOLOR_FORCE = '1';
  const { stdout, stderr } = spawnSync(process.execPath, [program, '--root', root, ...args], {
    encoding: 'utf8',
    env,
    maxBuffer: 64 * 1024 * 1024,
  });
  say(`${stdout}${stderr}`.trimEnd());
  say();
}

function startRecorder() {
  return spawn(process.execPath, [program, '--root', root, 'record', session], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
}

const ended = (child) =>
  new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));

function eventCount() {
  const { stdout } = ask('sessions', '--json');
  const [found] = stdout === '' ? [] : JSON.parse(stdout).sessions;
  return found?.events ?? 0;
}

async function waitFor(count) {
  for (let tries = 0; tries < 100; tries += 1) {
    if (eventCount() >= count) return;
    await pause(100);
  }
  throw new Error(`the recorder did not come to ${count} events`);
}

say(
  `An agent works: ${lines.length} events in seven turns. They are piped into \`turnlog record ${session}\`.`,
);
say();

// The first recorder is killed in the third turn, in the middle of a line.
const killedAfter = 60;
const first = startRecorder();
const firstEnd = ended(first);
for (const line of lines.slice(0, killedAfter)) first.stdin.write(line);
first.stdin.write(lines[killedAfter].slice(0, 40));
await waitFor(killedAfter);
first.kill('SIGKILL');
first.stdin.destroy();
const { signal } = await firstEnd;
say(`The recorder got ${killedAfter} lines and half of the next one, then ${signal}. What is left behind:`);
say();
showing('sessions');

// Whoever sent the events cannot know how far the recorder came, and sends some of them again.
const resentFrom = killedAfter - 8;
say(`A second recorder goes on. The agent sends everything from line ${resentFrom + 1} on, to be sure.`);
say();
const second = startRecorder();
const secondEnd = ended(second);
for (const line of lines.slice(resentFrom)) second.stdin.write(line);
second.stdin.end();
const { code } = await secondEnd;
say();
showing('show', session);
showing('sessions');
showing('doctor');

// Every event is there once, in order, with the bytes it was sent with.
const { records } = JSON.parse(ask('show', session, '--json').stdout);
const stored = ask('show', session, '--raw')
  .stdout.split('\n')
  .filter((line) => line !== '');
const isWhole =
  code === 0 &&
  records.length === lines.length &&
  lines.every((line, index) => {
    const event = line.slice('{"event":'.length, line.lastIndexOf(',"key":'));
    return records[index].seq === index + 1 && stored[index].endsWith(`"event":${event}}`);
  });
if (!isWhole) {
  say('The log is not what was sent. That is a bug.');
  process.exit(1);
}

say(
  `What happened: the recorder was killed with SIGKILL after ${killedAfter} whole lines, inside of the third turn. All`,
);
say(
  `${killedAfter} were in the log, because every block that is read is handed to the operating system before the next one`,
);
say(
  'is awaited; the half line was never an event. The second recorder found that the owner of the lock was dead,',
);
say(
  'took it over, read only what the manifest did not cover yet, stayed in the open turn, and stored each event',
);
say(
  `that was sent again once, by its key. All ${lines.length} events are there in order, byte for byte as they were sent.`,
);
say(
  `The log is ${join(root, 'sessions', session, 'events.jsonl')}; everything beside it is derived from it.`,
);
