import { ownMember, ownText } from '@turnlog/events';
import { effectiveRecords, type LogRecord } from '@turnlog/log';

/**
 * Whether it depends on records before these, the first ones that can still be read of a log, what counts of them: a
 * start behind nothing but updates begins another item if the item was completed before, and the output of a tool is
 * named after a call. Who had read those records knows what nobody can find out any more.
 */
export function leanOnEarlier(records: Iterable<LogRecord>): boolean {
  /** Of each item that was met, whether it is known to be completed or begun. */
  const isKnown = new Map<string, boolean>();
  for (const { record } of effectiveRecords(records)) {
    if (!itemEvents.has(record.type)) continue;
    const item = ownMember(record.readEvent(), 'item');
    const [id, type] = [ownText(item, 'id'), ownText(item, 'type')];
    if (id === null || type === null) continue;
    if (type === 'tool_output' && !isKnown.has(ownText(item, 'call_id') ?? '')) return true;
    const before = isKnown.get(id);
    if (record.type === 'item.started' && before === false) return true;
    isKnown.set(id, before === true || record.type !== 'item.updated');
  }
  return false;
}

const itemEvents: ReadonlySet<string> = new Set(['item.started', 'item.updated', 'item.completed']);
