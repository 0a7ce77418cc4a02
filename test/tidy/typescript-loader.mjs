import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

// Lets a script of this folder load the TypeScript beside it; Node 20 does not do so by itself.

export function resolve(specifier, context, next) {
  const isOwn = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
  return next(isOwn ? specifier.replace(/\.js$/, '.ts') : specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const text = await readFile(fileURLToPath(url), 'utf8');
  const { code } = await transform(text, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  });
  return { format: 'module', source: code, shortCircuit: true };
}
