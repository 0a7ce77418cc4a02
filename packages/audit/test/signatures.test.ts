import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  agentSigner,
  type Findings,
  noteKeyId,
  packNamespace,
  parseNote,
  parseSshSignature,
  parseTrustedKeys,
  readPublicKeyFile,
  readSigner,
  type Signer,
  signNote,
  signSsh,
  type TrustedKey,
  verdictOn,
  verifySsh,
} from '@turnlog/audit';
import { AuditWorld } from './world.js';

const folder = mkdtempSync(join(tmpdir(), 'turnlog-audit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);

/** A new key of OpenSSH. */
function sshKey(name: string): { readonly signer: Signer; readonly allowed: string } {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', at(name)]);
  return {
    signer: readSigner(readFileSync(at(name)), at(name)),
    allowed: `${name} ${readFileSync(at(`${name}.pub`), 'utf8')}`,
  };
}

const ann = sshKey('ann');
const bob = sshKey('bob');
const trust = (text: string): readonly TrustedKey[] => parseTrustedKeys(Buffer.from(text), 'trusted');

async function signed(signer: Signer | null = ann.signer): Promise<AuditWorld> {
  const world = new AuditWorld();
  await world.turns(2);
  await world.pack({ record: 'none', ...(signer === null ? {} : { signer }) });
  return world;
}

async function outcome(
  world: AuditWorld,
  trusted: readonly TrustedKey[],
  signature = false,
): Promise<string> {
  const found: Findings = await world.verify({ trusted, require: { signature } });
  return `${verdictOn(found)}, ${found.assurance}`;
}

/** One flipped bit in a file of the pack. */
function alter(world: AuditWorld, name: string, place: (bytes: Buffer) => number): void {
  const bytes = world.bytes(name);
  const offset = place(bytes);
  bytes.writeUInt8(bytes.readUInt8(offset) ^ 1, offset);
  world.plant(name, bytes);
}

test('A-10 without a signature it is the word of the session itself, and nothing where one is required', async () => {
  const world = await signed(null);
  expect(await outcome(world, [])).toBe('verified, self-attested');
  expect(await outcome(world, trust(ann.allowed), true)).toBe('bad-signature, self-attested');
  expect(await world.exit({ require: { signature: true } })).toBe(4);
});

test('A-10 a key that nobody knows, and one that is trusted', async () => {
  const world = await signed();
  expect(await outcome(world, [])).toBe('verified, signed-unknown-key');
  expect(await outcome(world, trust(bob.allowed))).toBe('verified, signed-unknown-key');
  expect(await outcome(world, trust(bob.allowed), true)).toBe('bad-signature, signed-unknown-key');
  expect(await outcome(world, trust(ann.allowed), true)).toBe('verified, signed-trusted-key');
  const vkey = `turnlog/s-1+${noteKeyId('turnlog/s-1', ann.signer.publicKey)}+${Buffer.concat([Buffer.of(1), ann.signer.publicKey]).toString('base64')}`;
  expect(await outcome(world, trust(vkey), true)).toBe('verified, signed-trusted-key');
});

test('A-10 an altered pack and an altered note are bad signatures', async () => {
  const pack = await signed();
  alter(pack, 'derived/audit-pack.json', (bytes) => bytes.indexOf('"active"') + 1);
  expect(await outcome(pack, trust(ann.allowed))).toMatch(/^bad-signature/);
  expect(await outcome(pack, [])).toMatch(/^bad-signature/);
  const note = await signed();
  const text = note.bytes('derived/audit-pack.checkpoint').toString('utf8');
  note.plant('derived/audit-pack.checkpoint', text.replace('\n6\n', '\n7\n'));
  expect(await outcome(note, trust(ann.allowed))).toMatch(/^bad-signature/);
  expect(await note.exit({ trusted: trust(ann.allowed) })).toBe(4);
});

test('A-10 a right note about another tree is none about this pack', async () => {
  const world = await signed();
  const other = await signNote({ origin: 'turnlog/s-1', size: 3, root: 'ab'.repeat(32) }, ann.signer);
  world.plant('derived/audit-pack.checkpoint', other);
  expect(await outcome(world, trust(ann.allowed))).toMatch(/^bad-signature/);
});

test('A-10 a signature that was made for something else does not count', async () => {
  const world = await signed();
  const bytes = world.bytes('derived/audit-pack.json');
  world.plant('derived/audit-pack.json.sig', await signSsh(bytes, ann.signer, 'file'));
  expect(await outcome(world, trust(ann.allowed))).toMatch(/^bad-signature/);
  // Nor does a key that may sign for other things only.
  const right = await signed();
  const limited = ann.allowed.replace('ann ', 'ann namespaces="file,git" ');
  expect(await outcome(right, trust(limited))).toMatch(/^bad-signature/);
});

test('A-10 a key that was revoked by its time in allowed_signers does not count any more', async () => {
  const world = await signed();
  const now = new Date(world.clock.now());
  const day = (date: Date): string => date.toISOString().slice(0, 10).replaceAll('-', '');
  const before = day(new Date(now.getTime() - 86_400_000));
  const after = day(new Date(now.getTime() + 2 * 86_400_000));
  const dated = (option: string): string => ann.allowed.replace('ann ', `ann ${option} `);
  expect(await outcome(world, trust(dated(`valid-before="${before}"`)))).toMatch(/^bad-signature/);
  expect(await outcome(world, trust(dated(`valid-before="${after}"`)))).toBe('verified, signed-trusted-key');
  expect(await outcome(world, trust(dated(`valid-after="${after}"`)))).toMatch(/^bad-signature/);
});

test('A-10 two signers: the second one witnesses the checkpoint, and a wrong line of a known key decides', async () => {
  const world = await signed();
  const first = world.bytes('derived/audit-pack.checkpoint').toString('utf8');
  const { checkpoint } = parseNote(Buffer.from(first));
  const second =
    Buffer.from(await signNote(checkpoint, bob.signer))
      .toString('utf8')
      .split('\n\n')[1] ?? '';
  world.plant('derived/audit-pack.checkpoint', first + second);
  expect(await outcome(world, trust(ann.allowed + bob.allowed))).toBe('verified, witnessed');
  expect(await outcome(world, trust(ann.allowed))).toBe('verified, signed-trusted-key');
  const wrong = await signNote({ ...checkpoint, size: checkpoint.size + 1 }, bob.signer);
  const line = Buffer.from(wrong).toString('utf8').split('\n\n')[1] ?? '';
  world.plant('derived/audit-pack.checkpoint', first + line);
  expect(await outcome(world, trust(ann.allowed + bob.allowed))).toMatch(/^bad-signature/);
  expect(await outcome(world, trust(ann.allowed))).toBe('verified, signed-trusted-key');
});

test('ssh-keygen checks what was signed here, and what it signs is checked here', async () => {
  const message = Buffer.from('{"a":1}\n');
  writeFileSync(at('message'), message);
  writeFileSync(at('ours.sig'), await signSsh(message, ann.signer));
  writeFileSync(at('allowed'), ann.allowed);
  const said = spawnSync(
    'ssh-keygen',
    ['-Y', 'verify', '-f', at('allowed'), '-I', 'ann', '-n', packNamespace, '-s', at('ours.sig')],
    { input: message, encoding: 'utf8' },
  );
  expect([said.status, said.stdout]).toEqual([
    0,
    expect.stringContaining('Good "turnlog-pack@v1" signature'),
  ]);
  execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', at('ann'), '-n', packNamespace, at('message')], {
    stdio: 'pipe',
  });
  const theirs = parseSshSignature(readFileSync(at('message.sig')));
  expect([verifySsh(theirs, message), verifySsh(theirs, Buffer.from('{"a":2}\n'))]).toEqual([true, false]);
});

test('openssl checks a checkpoint, and signs with a key that is read here', async () => {
  execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', at('key.pem')]);
  execFileSync('openssl', ['pkey', '-in', at('key.pem'), '-pubout', '-out', at('public.pem')]);
  const signer = readSigner(readFileSync(at('key.pem')), at('key.pem'));
  const note = parseNote(await signNote({ origin: 'turnlog/s-1', size: 7, root: 'ab'.repeat(32) }, signer));
  writeFileSync(at('body'), note.body);
  writeFileSync(at('sig'), note.signatures[0]?.signature ?? Buffer.alloc(0));
  const check = [
    'pkeyutl',
    '-verify',
    '-pubin',
    '-inkey',
    at('public.pem'),
    '-rawin',
    '-in',
    at('body'),
    '-sigfile',
    at('sig'),
  ];
  expect(execFileSync('openssl', check, { encoding: 'utf8' })).toContain('Verified Successfully');
  writeFileSync(at('body'), 'another\n');
  expect(spawnSync('openssl', check, { encoding: 'utf8' }).status).not.toBe(0);
});

test('an ssh-agent signs with the key that is asked for, and a key with a passphrase is left to it', async () => {
  const socket = at('agent');
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    await new Promise((resolve) => agent.stdout.once('data', resolve));
    const env = { ...process.env, SSH_AUTH_SOCK: socket };
    for (const name of ['ann', 'bob']) execFileSync('ssh-add', ['-q', at(name)], { env, stdio: 'pipe' });
    const wanted = readPublicKeyFile(readFileSync(at('bob.pub')));
    const signer = await agentSigner(socket, wanted);
    const message = Buffer.from('x');
    expect(verifySsh(parseSshSignature(await signSsh(message, signer)), message)).toBe(true);
    expect(Buffer.from(signer.publicKey).equals(bob.signer.publicKey)).toBe(true);
    const first = await agentSigner(socket, null);
    expect(Buffer.from(first.publicKey).equals(ann.signer.publicKey)).toBe(true);
    const unknown = agentSigner(socket, Buffer.alloc(32));
    await expect(unknown).rejects.toMatchObject({ code: 'TURNLOG_BAD_CONFIG' });
  } finally {
    agent.kill();
  }
  await expect(agentSigner(at('nobody'), null)).rejects.toMatchObject({ code: 'TURNLOG_IO' });
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'a passphrase', '-f', at('locked')]);
  const refused = expect.objectContaining({
    code: 'TURNLOG_BAD_CONFIG',
    message: expect.stringContaining('passphrase'),
  });
  expect(() => readSigner(readFileSync(at('locked')), at('locked'))).toThrow(refused);
});

test.each(['nonsense', 'ann ssh-ed25519 AAAA', 'a+00000000+AQ=='])(
  'trusted keys: %j is refused with its line',
  (line) => {
    expect(() => trust(`# keys\n${line}\n`)).toThrow(
      expect.objectContaining({ details: { path: 'trusted', line: 2 } }),
    );
  },
);

test.each(['', 'x', '-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n'])(
  '%j is no signature',
  (text) => {
    const refused = expect.objectContaining({ code: 'TURNLOG_BAD_SIGNATURE' });
    expect(() => parseSshSignature(Buffer.from(text))).toThrow(refused);
    expect(() => parseNote(Buffer.from(text))).toThrow(refused);
  },
);
