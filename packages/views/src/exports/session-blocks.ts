import { ownMember, ownText } from '../internal/members.js';
import { blockOfEvent, unknownBlock } from './block-of-event.js';
import { blockOfItem } from './block-of-item.js';
import { type Block, isInCondensed } from './blocks.js';
import type { ExportTally } from './export-tally.js';
import type { Entry } from './session-entries.js';

/** What is read of a session, in order. What says nothing to a reader is counted by its type. */
export function* sessionBlocks(
  entries: Iterable<Entry>,
  detail: 'full' | 'condensed',
  tally: ExportTally,
): Iterable<Block> {
  for (const entry of entries) {
    for (const block of blocksOf(entry, tally)) {
      if (detail === 'full' || isInCondensed(block)) yield block;
    }
  }
}

function blocksOf(entry: Entry, tally: ExportTally): readonly Block[] {
  switch (entry.kind) {
    case 'turn': {
      const { turn, status, usage, event } = entry;
      const goal = ownText(ownMember(event.value, 'context'), 'goal');
      return [{ kind: 'turn', seq: event.seq, ts: event.ts, turn, status, usage, goal }];
    }
    case 'turn-end':
      return [];
    case 'item':
      return [blockOfItem(entry)];
    case 'event': {
      const block = blockOfEvent(entry.event) ?? unknownBlock(entry.event);
      if (block === null && !silentTypes.has(entry.event.type)) tally.noteSkipped(entry.event.type);
      return block === null ? [] : [block];
    }
  }
}

/** Said by the headings, or by what follows. */
const silentTypes: ReadonlySet<string> = new Set([
  'turn.started',
  'turn.completed',
  'thread.started',
  'item.started',
  'item.updated',
  'item.completed',
]);
