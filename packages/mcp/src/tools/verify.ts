import { findingsJson, verifySession } from '@turnlog/audit';
import { z } from 'zod';
import { shortLine } from '../about-session.js';
import { fitItems, outputBytes } from '../output-limits.js';
import { defineTool, reading, type Tool, type ToolAnswer, type ToolContext } from '../tool.js';
import { paging, rows } from '../tool-input.js';

const input = z.strictObject({
  session: z.string(),
  pack: z.string().optional(),
  max_bytes: paging.max_bytes,
});

type Input = z.output<typeof input>;

export const verifyTool: Tool = defineTool({
  name: 'turnlog_verify',
  description:
    'Is a session as its audit pack says? Counts with the first of each list. pack: directory of a pack that lies elsewhere.',
  input,
  output: z.object({ verdict: z.string(), assurance: z.string(), mismatches: rows, capped: z.boolean() }),
  annotations: reading,
  answer,
});

/** The lists of a verdict, the ones that decide first. */
const listNames = ['mismatches', 'missing', 'unproven', 'redacted', 'stale', 'unaccounted'] as const;

async function answer(given: Input, context: ToolContext): Promise<ToolAnswer> {
  const { store, egress } = context;
  const found = await verifySession(store, given.session, {
    nowMs: store.environment.clock.now(),
    ...(given.pack === undefined ? {} : { packSource: context.resolvePath(given.pack) }),
  });
  const { tree, reason, ...told } = findingsJson(found);
  const { redacted, ...root } = { redacted: [], ...Object(tree) };
  const lists: Readonly<Record<string, unknown>> = { ...told, redacted };
  const items = listNames.map((name) => ({
    name,
    items: listOf(lists[name]).map((each) => egress.value(each)),
  }));
  const others = Object.fromEntries(Object.entries(told).filter(([name]) => !isListName(name)));
  const head = egress.value({
    ...context.head,
    ...others,
    tree: root,
    reason: typeof reason === 'string' ? shortLine(reason, egress) : null,
    counts: Object.fromEntries(items.map(({ name, items: all }) => [name, all.length])),
  });
  return cutLists(head, items, outputBytes(given.max_bytes));
}

function isListName(name: string): boolean {
  return listNames.some((each) => each === name);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Each list has its place in the order of the lists, and as many of its items as still fit. */
function cutLists(
  head: ReturnType<ToolContext['egress']['value']>,
  lists: readonly { readonly name: string; readonly items: readonly unknown[] }[],
  bytesMax: number,
): ToolAnswer {
  let answered: ToolAnswer = {
    ...Object(head),
    ...Object.fromEntries(lists.map(({ name }) => [name, []])),
    capped: false,
  };
  let isCapped = false;
  for (const { name, items } of lists) {
    const fitted = fitItems(items, answered, bytesMax);
    isCapped ||= fitted.isCapped;
    answered = { ...answered, [name]: fitted.items, capped: isCapped };
  }
  return answered;
}
