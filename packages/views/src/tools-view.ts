import { formatTimestamp, listItems } from '@turnlog/events';
import type { JsonObject } from '@turnlog/kernel';
import { ownText } from './internal/members.js';
import {
  evolveSlimItems,
  noItems,
  type SlimItems,
  slimItemsFrom,
  slimItemsJson,
} from './internal/slim-items.js';
import { member } from './internal/stored-value.js';
import type { View } from './view.js';

/** One call of a tool, however many records say it. */
export interface ToolCall {
  readonly tool: string;
  /** Its `tool_call_id`, else the id of its item. */
  readonly callId: string;
  readonly seq: number;
  readonly turn: number | null;
  readonly tsMs: number | null;
  /** As it is stored; null where the item has none. */
  readonly status: string | null;
}

export interface ToolsState {
  readonly items: SlimItems;
}

const callTypes: ReadonlySet<string> = new Set([
  'tool_invocation',
  'mcp_tool_call',
  'command_execution',
  'web_search',
]);

/**
 * Calls of tools (CL-21). Invocations and MCP calls go by their `tool_name`; commands and searches, and calls without
 * a name, by the type of their item. No name is dropped, and names that every object has are names like any other.
 */
export const toolsView: View<ToolsState> = {
  name: 'tools',
  version: 1,
  initial: () => ({ items: noItems }),
  evolve: (state, record) => {
    const items = evolveSlimItems(state.items, record, (item, type) => {
      if (!callTypes.has(type)) return null;
      return {
        tool_name: ownText(item, 'tool_name'),
        tool_call_id: ownText(item, 'tool_call_id'),
        status: ownText(item, 'status'),
      };
    });
    return items === state.items ? state : { items };
  },
  toJson: ({ items }) => ({ items: slimItemsJson(items) }),
  fromJson: (json) => ({ items: slimItemsFrom(member(json, 'items')) }),
  toDocument: (state) => ({
    tools: [...countTools(toolCalls(state)).entries()].map(
      ([tool, { calls, failed }]): JsonObject => ({
        tool,
        calls,
        failed,
      }),
    ),
    last_call: lastCall(state),
  }),
};

function lastCall(state: ToolsState): JsonObject | null {
  const call = toolCalls(state).at(-1);
  if (call === undefined) return null;
  const { tool, callId, seq, tsMs } = call;
  return { tool, call_id: callId, seq, ts: tsMs === null ? null : formatTimestamp(tsMs) };
}

/**
 * The calls in the order in which they were first said. One call id counts once in a turn, also under several
 * items; an item that begins again behind its end is another call (C-11).
 */
export function toolCalls(state: ToolsState): readonly ToolCall[] {
  const itemsOfCalls = new Map<string, string>();
  return listItems(state.items).flatMap(({ id, type, item, firstPosition }): readonly ToolCall[] => {
    const named = ownText(item, 'tool_call_id');
    const { seq, turn, tsMs } = firstPosition;
    if (named !== null) {
      const key = `${turn ?? ''}\0${named}`;
      const known = itemsOfCalls.get(key);
      if (known !== undefined && known !== id) return [];
      itemsOfCalls.set(key, id);
    }
    const tool = ownText(item, 'tool_name') ?? type;
    return [{ tool, callId: named ?? id, seq, turn, tsMs, status: ownText(item, 'status') }];
  });
}

export interface ToolCount {
  readonly calls: number;
  readonly failed: number;
}

/** Counts per name, in the order of first use. */
export function countTools(calls: Iterable<ToolCall>): ReadonlyMap<string, ToolCount> {
  const counts = new Map<string, ToolCount>();
  for (const { tool, status } of calls) {
    const known = counts.get(tool) ?? { calls: 0, failed: 0 };
    counts.set(tool, { calls: known.calls + 1, failed: known.failed + (status === 'failed' ? 1 : 0) });
  }
  return counts;
}
