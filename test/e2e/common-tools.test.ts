import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeTemporaryDirectory } from '@turnlog/testkit';
import { runHere } from '../run-here.js';
import { type Ended, freshContainer, placeOf, type Toolbox, toolsOnPath } from './toolbox.js';

/** All that the documented commands may use: Node is not among them. */
const tools =
  'sh cat cut grep head mktemp mv openssl rm sed sha256sum ssh-keygen tail tr wc xxd printf echo'.split(' ');

const readme = readFileSync(resolve(__dirname, '../../packages/audit/README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);

/** The one block of the documentation that has these words. */
function documented(words: string): string {
  const found = blocks.filter((block) => block.includes(words));
  if (found.length !== 1) throw new Error(`${found.length} blocks have ${words}`);
  return found[0] ?? '';
}

const missing = tools.filter((tool) => !['printf', 'echo'].includes(tool) && placeOf(tool) === null);

interface Redacted {
  readonly lines: readonly string[];
  readonly root: string;
}

interface Proof {
  readonly index: number;
  readonly size: number;
  readonly root: string;
  readonly path: readonly string[];
}

interface Vectors {
  readonly lines: readonly string[];
  readonly sizes: readonly { readonly size: number; readonly root: string }[];
  readonly inclusion: readonly Proof[];
}

function vectors<Value>(name: string): Value {
  return JSON.parse(readFileSync(resolve(__dirname, '../vectors/audit', name), 'utf8'));
}

if (missing.length > 0) {
  process.stdout.write(`not on this machine: ${missing.join(', ')}; the documented commands did not run\n`);
} else {
  const directory = makeTemporaryDirectory();
  afterAll(() => directory.remove());
  const request = { directory: directory.path, tools, env: { S: 'store/sessions/s-1', K: 'trusted' } };
  const container = freshContainer(request);
  if (container === null) {
    process.stdout.write('this machine makes no container; the documented commands ran beside Node\n');
    describe('the documented commands, with nothing but their tools on the path', () =>
      checks(toolsOnPath(request), directory.path));
  } else {
    describe('A-19: the documented commands, in a fresh container that holds their tools and no Node', () =>
      checks(container, directory.path));
  }
}

/** Every command of the documentation, and what it must say. */
function checks(box: Toolbox, home: string): void {
  const at = (name: string): string => join(home, name);
  const session = at('store/sessions/s-1');
  const log = join(session, 'events.jsonl');
  const sh = (script: string, ...args: readonly string[]): Ended => box.sh(script, ...args);

  /** Puts a file where the commands see it, and gives the name that they see. */
  const put = (name: string, content: string): string => {
    writeFileSync(at(name), content);
    return box.inside(name);
  };

  const turnlog = async (...argv: readonly string[]): Promise<string> => {
    const input = Array.from({ length: 6 }, (_, n) => `{"type":"error","message":"m${n}"}\n`).join('');
    const ended = await runHere(['--root', at('store'), '-q', ...argv], {
      cwd: home,
      ...(argv[0] === 'record' ? { input } : {}),
    });
    if (ended.exit !== 0) throw new Error(ended.said);
    return ended.said;
  };

  const packOf = (): { readonly tree: { readonly size: number; readonly root: string } } =>
    JSON.parse(readFileSync(join(session, 'derived/audit-pack.json'), 'utf8'));

  beforeAll(async () => {
    mkdirSync(at('trusted'));
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ann', '-f', at('ann')]);
    writeFileSync(at('trusted/allowed_signers'), `ann ${readFileSync(at('ann.pub'), 'utf8')}`);
    execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', at('ann.pem')]);
    const key = ['pkey', '-in', at('ann.pem'), '-pubout', '-out', at('trusted/key.pem')];
    execFileSync('openssl', key, { stdio: 'ignore' });
    await turnlog('record', 's-1');
    await turnlog('pack', 's-1', '--no-record', '--key', at('ann'));
  });

  test('there is no Node, and nothing else that could help', () => {
    const asked = sh(
      'for tool in node nodejs npx perl python3 turnlog; do command -v $tool || echo none; done',
    );
    expect(asked.out).toBe('none\n'.repeat(6));
    if (box.kind === 'container') expect(sh('echo /*').out).not.toMatch(/work|home|root|usr\/local/);
  });

  test('AU-31: the files are as packed; one byte more or less is seen, and a log that has grown is not', async () => {
    expect(sh(documented('sha256sum -c')).status).toBe(0);
    const whole = readFileSync(log);
    writeFileSync(log, whole.subarray(1));
    const { status, out } = sh(documented('sha256sum -c'));
    expect([status, out.includes('events.jsonl: FAILED')]).toEqual([1, true]);
    writeFileSync(log, Buffer.concat([whole, Buffer.from('more\n')]));
    const [found, packed] = sh(documented('head -c "$bytes"')).out.trim().split('\n');
    expect(found?.slice(0, 64)).toBe(createHash('sha256').update(whole).digest('hex'));
    expect(packed?.slice(0, 64)).toBe(found?.slice(0, 64));
    writeFileSync(log, whole);
  });

  test('AU-31: ssh-keygen says who signed the pack, and that another pack was not signed', () => {
    const verify = documented('-n turnlog-pack@v1');
    const good = sh(verify);
    expect([good.status, good.out]).toEqual([
      0,
      expect.stringMatching(/^Good "turnlog-pack@v1" signature for ann /),
    ]);
    const path = join(session, 'derived/audit-pack.json');
    const pack = readFileSync(path);
    writeFileSync(path, Buffer.concat([pack, Buffer.from(' ')]));
    expect(sh(verify).status).not.toBe(0);
    writeFileSync(path, pack);
  });

  test('AU-31: openssl says who signed the checkpoint, whose root is that of the pack', async () => {
    await turnlog('pack', 's-1', '--no-record', '--key', at('ann.pem'));
    const verify = documented('pkeyutl -verify');
    const { status, out } = sh(verify);
    expect([status, out.split('\n')[0]]).toEqual([0, 'Signature Verified Successfully']);
    expect(out.trim().split('\n').at(-1)).toBe(packOf().tree.root);
    const path = join(session, 'derived/audit-pack.checkpoint');
    const checkpoint = readFileSync(path, 'utf8');
    writeFileSync(path, checkpoint.replace('turnlog/s-1', 'turnlog/s-2'));
    expect(sh(verify).out).not.toContain('Verified Successfully');
    writeFileSync(path, checkpoint);
  });

  test('AU-31: the script finds the root of the log, with the leaf of a record that was redacted', () => {
    const script = documented('# root.sh LOG');
    const { size, root } = packOf().tree;
    expect(sh(script, box.inside('store/sessions/s-1/events.jsonl'))).toEqual({
      status: 0,
      out: `${size} ${root}\n`,
    });
    const lines = readFileSync(join(session, 'events.jsonl'), 'utf8').trimEnd().split('\n');
    const leaf = createHash('sha256')
      .update(`\0${lines[2] ?? ''}`)
      .digest('hex');
    const gone = put('gone.jsonl', `${lines.map((line, n) => (n === 2 ? 'gone' : line)).join('\n')}\n`);
    expect(sh(script, gone).out).not.toContain(root);
    expect(sh(script, gone, `3=${leaf}`).out).toBe(`${size} ${root}\n`);
    expect(sh(script, put('empty.jsonl', '')).out).toBe(`0 ${createHash('sha256').digest('hex')}\n`);
  });

  test('AU-31: the proof of each record leads to the root, that of another record does not', async () => {
    const script = documented('# fold.sh RECORD');
    const lines = readFileSync(join(session, 'events.jsonl'), 'utf8').trimEnd().split('\n');
    for (const [n, line] of lines.entries()) {
      const proof: Proof = JSON.parse(await turnlog('prove', 's-1', String(n + 1)));
      const given = [String(proof.index), String(proof.size), ...proof.path];
      const record = put('record', `${line}\n`);
      expect(sh(script, record, ...given)).toEqual({ status: 0, out: `${proof.root}\n` });
      put('record', `${line} \n`);
      expect(sh(script, record, ...given).out).not.toBe(`${proof.root}\n`);
    }
  });

  test('A-1 tree.json by the shell script: the root of each size, and the way from each record of 7 up to it', () => {
    const { lines, sizes, inclusion } = vectors<Vectors>('tree.json');
    const root = documented('# root.sh LOG');
    for (const size of [0, 1, 2, 3, 4, 7, 8, 17, 70]) {
      const file = put(
        'v.jsonl',
        lines
          .slice(0, size)
          .map((line) => `${line}\n`)
          .join(''),
      );
      expect(sh(root, file).out).toBe(`${size} ${sizes[size]?.root}\n`);
    }
    const fold = documented('# fold.sh RECORD');
    const ways = inclusion.filter(({ size }) => size === 7);
    for (const { index, size, root: wanted, path } of ways) {
      const record = put('v', `${lines[index]}\n`);
      expect(sh(fold, record, String(index), String(size), ...path).out).toBe(`${wanted}\n`);
      const [first = '', ...rest] = path;
      const changed = first.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
      expect(sh(fold, record, String(index), String(size), changed, ...rest).out).not.toBe(`${wanted}\n`);
    }
  });

  test('A-1 redacted.json by the shell script: the hashes that redacted lines name stand for them', () => {
    const { original, explained } =
      vectors<Readonly<Record<'original' | 'explained', Redacted>>>('redacted.json');
    const named = explained.lines.slice(0, original.lines.length).flatMap((line, at) => {
      const { event } = JSON.parse(line);
      return event.type === 'log.redacted' ? [`${at + 1}=${event.leaf}`] : [];
    });
    expect(named).toHaveLength(3);
    const script = documented('# root.sh LOG');
    const file = put(
      'v.jsonl',
      explained.lines
        .slice(0, original.lines.length)
        .map((line) => `${line}\n`)
        .join(''),
    );
    expect(sh(script, file, ...named).out).toBe(`${original.lines.length} ${original.root}\n`);
    expect(sh(script, file).out).not.toContain(original.root);
  });

  test('AU-31: no block of the documentation goes unused', () => {
    expect(blocks).toHaveLength(6);
  });
}
