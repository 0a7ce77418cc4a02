/** How much of something a run tries: the slice of every run, or what a long run asks for by a variable. */
export function soakBudget(variable: string, slice: number): number {
  const text = process.env[variable] ?? '';
  const count = text === '' ? slice : Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(`${variable} is no count: "${text}"`);
  return count;
}

/** Says what a run came to, on a line of its own that `pnpm soak` puts into its table. */
export function tellFigure(name: string, value: string): void {
  process.stdout.write(`figure: ${name}: ${value}\n`);
}
