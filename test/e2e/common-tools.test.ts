import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeTemporaryDirectory } from '@turnlog/testkit';
import { runHere } from '../run-here.js';

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

function placeOf(tool: string): string | null {
  const found = spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim();
  return found.startsWith('/') ? found : null;
}

const missing = tools.filter((tool) => !['printf', 'echo'].includes(tool) && placeOf(tool) === null);

if (missing.length > 0) {
  process.stdout.write(`not on this machine: ${missing.join(', ')}; the documented commands did not run\n`);
} else {
  const directory = makeTemporaryDirectory();
  afterAll(() => directory.remove());
  const at = (name: string): string => join(directory.path, name);
  const session = at('store/sessions/s-1');
  const trusted = at('trusted');

  /** Runs a text as a shell script where there is nothing but the tools. */
  function sh(
    script: string,
    ...args: readonly string[]
  ): { readonly status: number | null; readonly out: string } {
    writeFileSync(at('script.sh'), script);
    const env = { PATH: at('bin'), S: session, K: trusted, TMPDIR: directory.path };
    const { status, stdout, stderr } = spawnSync(join(at('bin'), 'sh'), [at('script.sh'), ...args], {
      encoding: 'utf8',
      env,
    });
    return { status, out: stdout + (status === 0 ? '' : stderr) };
  }

  const turnlog = async (...argv: readonly string[]): Promise<string> => {
    const input = Array.from({ length: 6 }, (_, n) => `{"type":"error","message":"m${n}"}\n`).join('');
    const ended = await runHere(['--root', at('store'), '-q', ...argv], {
      cwd: directory.path,
      ...(argv[0] === 'record' ? { input } : {}),
    });
    if (ended.exit !== 0) throw new Error(ended.said);
    return ended.said;
  };

  const packOf = (): { readonly tree: { readonly size: number; readonly root: string } } =>
    JSON.parse(readFileSync(join(session, 'derived/audit-pack.json'), 'utf8'));

  beforeAll(async () => {
    mkdirSync(at('bin'));
    mkdirSync(trusted);
    for (const tool of tools) {
      const place = placeOf(tool);
      if (place !== null) symlinkSync(place, join(at('bin'), tool));
    }
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ann', '-f', at('ann')]);
    writeFileSync(join(trusted, 'allowed_signers'), `ann ${readFileSync(at('ann.pub'), 'utf8')}`);
    execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', at('ann.pem')]);
    const key = ['pkey', '-in', at('ann.pem'), '-pubout', '-out', join(trusted, 'key.pem')];
    execFileSync('openssl', key, { stdio: 'ignore' });
    await turnlog('record', 's-1');
    await turnlog('pack', 's-1', '--no-record', '--key', at('ann'));
  });

  test('AU-31: the files are as packed; one byte more or less is seen, and a log that has grown is not', async () => {
    expect(sh(documented('sha256sum -c')).status).toBe(0);
    const log = join(session, 'events.jsonl');
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
    expect(sh(script, join(session, 'events.jsonl'))).toEqual({ status: 0, out: `${size} ${root}\n` });
    const lines = readFileSync(join(session, 'events.jsonl'), 'utf8').trimEnd().split('\n');
    const leaf = createHash('sha256')
      .update(`\0${lines[2] ?? ''}`)
      .digest('hex');
    writeFileSync(at('redacted.jsonl'), `${lines.map((line, n) => (n === 2 ? 'gone' : line)).join('\n')}\n`);
    expect(sh(script, at('redacted.jsonl')).out).not.toContain(root);
    expect(sh(script, at('redacted.jsonl'), `3=${leaf}`).out).toBe(`${size} ${root}\n`);
    writeFileSync(at('empty.jsonl'), '');
    expect(sh(script, at('empty.jsonl')).out).toBe(`0 ${createHash('sha256').digest('hex')}\n`);
  });

  test('AU-31: the proof of each record leads to the root, that of another record does not', async () => {
    const script = documented('# fold.sh RECORD');
    const lines = readFileSync(join(session, 'events.jsonl'), 'utf8').trimEnd().split('\n');
    for (const [n, line] of lines.entries()) {
      const proof: {
        readonly index: number;
        readonly size: number;
        readonly root: string;
        readonly path: string[];
      } = JSON.parse(await turnlog('prove', 's-1', String(n + 1)));
      const given = [String(proof.index), String(proof.size), ...proof.path];
      writeFileSync(at('record'), `${line}\n`);
      expect(sh(script, at('record'), ...given)).toEqual({ status: 0, out: `${proof.root}\n` });
      writeFileSync(at('record'), `${line} \n`);
      expect(sh(script, at('record'), ...given).out).not.toBe(`${proof.root}\n`);
    }
  });

  test('AU-31: no block of the documentation goes unused', () => {
    expect(blocks).toHaveLength(6);
  });
}
