import { JsonTokenizer, type Span, textOf } from '@turnlog/kernel';

export interface LeafRule {
  /** Whether numbers count too, with their digits as they are stored. */
  readonly numbers: 'counted' | 'left-out';
  /** Leaves that lie deeper are left out. */
  readonly levelsMax?: number;
}

const tokenizer = new JsonTokenizer();

/** The strings in a JSON value, in the order of its bytes. What is not UTF-8 reads as U+FFFD. */
export function stringLeaves(bytes: Uint8Array, { start, end }: Span, rule: LeafRule): readonly string[] {
  const { numbers, levelsMax = Number.POSITIVE_INFINITY } = rule;
  const leaves: string[] = [];
  tokenizer.reset(bytes, start, end);
  for (;;) {
    const token = tokenizer.next();
    if (token === 'end' || token === 'error') return leaves;
    if (tokenizer.depth > levelsMax) continue;
    if (token === 'string') leaves.push(String(JSON.parse(textOf(bytes, tokenizer))));
    else if (token === 'number' && numbers === 'counted') leaves.push(textOf(bytes, tokenizer));
  }
}
