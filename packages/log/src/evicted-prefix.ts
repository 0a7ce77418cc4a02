import { parseTimestamp } from '@turnlog/events';
import { limits } from '@turnlog/kernel';
import { CarriedRecords } from './carried-records.js';
import { type EvictionHeader, parseEvictionHeader } from './eviction-record.js';
import type { ByteSource } from './line-framer.js';
import { LogScan } from './log-scan.js';
import type { LogState } from './log-state.js';
import type { TreeHead } from './merkle-frontier.js';

/** What has to be known of the bytes that leave a log, found by reading them once. */
export interface EvictedPrefix {
  /** What is known of the log after them. */
  readonly state: LogState;
  /** The hash tree over everything before the records that stay. */
  readonly tree: TreeHead;
  /** The header of an eviction before, which leaves with them; null when there is none. */
  readonly header: EvictionHeader | null;
  /** First and newest known time of everything that has left by then. */
  readonly firstTsMs: number | null;
  readonly lastTsMs: number | null;
  readonly carried: CarriedRecords;
  /** The leaf hashes of its records, 32 bytes each, in blocks; none unless they were asked for. */
  readonly leaves: readonly Uint8Array[];
}

export interface PrefixReading {
  readonly turnBase: number;
  readonly pause: () => Promise<void>;
  /** `kept` also gives the leaf hashes, 32 bytes for each record. */
  readonly leaves: 'kept' | 'none';
}

/** Reads the first `cut` bytes of a log. */
export async function readPrefix(
  source: ByteSource,
  cut: number,
  { turnBase, pause, leaves: keeping }: PrefixReading,
): Promise<EvictedPrefix> {
  const carried = new CarriedRecords();
  const times = new KnownTimes();
  const leaves: Uint8Array[] = [];
  let slice: string[] = [];
  let header: EvictionHeader | null = null;
  const scan = new LogScan(source, {
    tree: 'hashed',
    turnBase,
    onRecord: (record) => {
      carried.note(record, scan.state.frames.place);
      const isHeader = record.offset === 0 && record.record.type === 'log.evicted';
      if (!isHeader) return times.note(record.tsMs);
      header = parseEvictionHeader(record.readEvent());
      times.note(timeOf(header?.firstTs));
      times.note(timeOf(header?.lastTs));
    },
    ...(keeping === 'kept' ? { onLeaf: (leaf) => slice.push(leaf) } : {}),
  });
  const keepLeaves = (): void => {
    if (slice.length > 0) leaves.push(Buffer.from(slice.join(''), 'hex'));
    slice = [];
  };
  for (const _pausing of scan.slices(cut, limits.rewriteSliceBytes)) {
    keepLeaves();
    await pause();
  }
  keepLeaves();
  return {
    state: scan.state,
    tree: scan.tree.head(),
    header,
    firstTsMs: times.first,
    lastTsMs: times.newest,
    carried,
    leaves,
  };
}

class KnownTimes {
  first: number | null = null;
  newest: number | null = null;

  note(tsMs: number | null): void {
    if (tsMs === null) return;
    this.first ??= tsMs;
    this.newest = Math.max(this.newest ?? tsMs, tsMs);
  }
}

function timeOf(text: string | null | undefined): number | null {
  return typeof text === 'string' ? parseTimestamp(text) : null;
}
