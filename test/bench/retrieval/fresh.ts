/** A value whose key was not there before. */
export function fresh<Value>(
  used: Set<string>,
  make: () => { readonly key: string; readonly value: Value },
): Value {
  for (let attempt = 0; attempt < 10_000; attempt += 1) {
    const { key, value } = make();
    if (used.has(key)) continue;
    used.add(key);
    return value;
  }
  throw new Error('the vocabulary is used up');
}
