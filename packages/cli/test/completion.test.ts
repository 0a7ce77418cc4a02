import { spawnSync } from 'node:child_process';
import { writtenFlag } from '../src/flag.js';
import { globalFlags } from '../src/flags.js';
import { shells, verbs } from '../src/verbs.js';
import { TestProgram } from './support.js';

async function script(shell: string): Promise<string> {
  const { exit, stdout } = await new TestProgram().run(['completion', shell]);
  expect(exit).toBe(0);
  return stdout;
}

test.each(shells)('I-7 the completion of %s names every verb and flag', async (shell) => {
  const text = await script(shell);
  for (const verb of verbs) {
    expect(text).toContain(verb.name);
    for (const flag of [...verb.flags, ...globalFlags]) {
      const written =
        shell === 'fish' ? `-${flag.name.length === 1 ? 's' : 'l'} ${flag.name}` : writtenFlag(flag);
      expect(text).toContain(written);
    }
  }
});

/** Shells that a machine may have, and how each reads a script without running a command line. */
const loaders: Readonly<Record<string, readonly string[]>> = {
  bash: ['-n'],
  zsh: ['-n'],
  fish: ['--no-execute'],
  powershell: [],
};

test.each(shells)('I-7 the completion of %s loads in that shell where it is present', async (shell) => {
  const arguments_ = loaders[shell] ?? [];
  const isPresent = arguments_.length > 0 && spawnSync(shell, ['--version']).status === 0;
  const text = await script(shell);
  if (!isPresent) {
    expect(text.split('\n').length).toBeGreaterThan(5);
    return;
  }
  const { status, stderr } = spawnSync(shell, arguments_, { input: text, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

const completed: readonly (readonly [words: readonly string[], candidates: readonly string[]])[] = [
  [['sess'], ['session', 'sessions']],
  [['exp'], ['export']],
  [['export', '--format', 'o'], ['otlp']],
  [['completion', ''], [...shells]],
  [['sessions', '--sort', 'o'], ['oldest']],
  [['record', '--dur'], ['--durability']],
  [['-q', 'doc'], ['doctor']],
];

test.each(completed)('I-7 in bash, %j is completed by %j', async (words, candidates) => {
  if (spawnSync('bash', ['--version']).status !== 0) return;
  const line = ['turnlog', ...words].map((word) => `'${word}'`).join(' ');
  const probe = `${await script('bash')}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _turnlog; printf '%s\\n' "\${COMPREPLY[@]}"\n`;
  const { stdout } = spawnSync('bash', ['--norc'], { input: probe, encoding: 'utf8' });
  expect(stdout.trimEnd().split('\n').sort()).toEqual([...candidates].sort());
});

test('I-7 capabilities and completion come from the table that the parser works by', async () => {
  const { stdout } = await new TestProgram().run(['capabilities', '--json']);
  const told = JSON.parse(stdout);
  expect(told.verbs.map(({ name }: { readonly name: string }) => name)).toEqual(
    verbs.map(({ name }) => name),
  );
  for (const [index, verb] of verbs.entries()) {
    const names = told.verbs[index].flags.map(({ name }: { readonly name: string }) => name);
    expect(names).toEqual(verb.flags.map(writtenFlag));
    expect(new Set(names).size).toBe(names.length);
  }
  expect(told.global_flags.map(({ name }: { readonly name: string }) => name)).toEqual(
    globalFlags.map(writtenFlag),
  );
});
