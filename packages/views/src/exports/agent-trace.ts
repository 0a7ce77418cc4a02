/**
 * Agent Trace 0.1.0: one record a line for each change of files that was carried out. Lines are those of the new file,
 * counted from 1 on, both ends included; the hash is that of the added lines, put together with line feeds. Ids are
 * derived from session and seq, so the same log always gives the same records.
 */

import { formatTimestamp } from '@turnlog/events';
import { sha256 } from '@turnlog/kernel';
import type { LogReader } from '@turnlog/log';
import { type Egress, redactionFacts } from '@turnlog/store';
import { ownList, ownText } from '../internal/members.js';
import type { ExportTally } from './export-tally.js';
import { KnownTime } from './known-time.js';
import { murmur3 } from './murmur3.js';
import { type ItemEntry, sessionEntries } from './session-entries.js';
import { planSession, type SessionPlan } from './session-plan.js';
import { type DocumentJson, type DocumentObject, documentJson } from './stored-json.js';
import { type AddedLines, type AddedRange, addedRanges } from './unified-diff.js';

const modelIdUnitsMax = 250;

export function* agentTraceRecords(reader: LogReader, egress: Egress, tally: ExportTally): Iterable<string> {
  const plan = planSession(reader, null);
  tally.noteLog(reader);
  tally.noteRecords(plan.recordCount);
  const times = new KnownTime(reader);
  for (const entry of sessionEntries(reader, plan, egress, null)) {
    if (entry.kind === 'turn' || entry.kind === 'turn-end') continue;
    const { ms } = times.of(entry.event.tsMs);
    const record = entry.kind === 'item' ? recordOf(entry, ms, reader.sessionId, plan, egress) : null;
    if (record !== null) yield `${documentJson(record)}\n`;
    else tally.noteSkipped(entry.kind === 'item' ? entry.type : entry.event.type);
  }
}

/** Null for what changed no file, and for a change of which not even a neighbour has a time. */
function recordOf(
  { item, type, event }: ItemEntry,
  ms: number | null,
  session: string,
  { run, usage }: SessionPlan,
  egress: Egress,
): DocumentObject | null {
  if (type !== 'file_change' || ms === null || ownText(item, 'status') === 'failed') return null;
  const url = `turnlog:${session}#${event.seq}`;
  const model = usage.model === null ? null : egress.text(usage.model);
  const contributor: DocumentJson = {
    type: 'ai',
    model_id: model === null || model.length > modelIdUnitsMax ? undefined : model,
  };
  const files = changedFiles(item).map(({ path, ranges }) => ({
    path,
    conversations: [{ url, contributor, ranges: ranges.map(rangeJson) }],
  }));
  if (files.length === 0) return null;
  const program = run?.program ?? null;
  return {
    version: '0.1.0',
    id: recordId(url),
    timestamp: formatTimestamp(ms),
    tool:
      program === null
        ? undefined
        : {
            name: egress.text(program),
            version: run?.version === null || run === null ? undefined : egress.text(run.version),
          },
    files,
    metadata: { 'dev.turnlog': { session, seq: event.seq, ...redactionFacts(egress) } },
  };
}

interface ChangedFile {
  readonly path: string;
  readonly ranges: readonly AddedRange[];
}

/** The changed files that are still there, each with what the diff adds to it. */
function changedFiles(item: unknown): readonly ChangedFile[] {
  const changes = ownList(item, 'changes').flatMap((change) => {
    const path = ownText(change, 'path');
    return path === null || path === '' || ownText(change, 'kind') === 'delete' ? [] : [path];
  });
  const diffs = addedRanges(ownText(item, 'unified_diff') ?? '');
  return changes.map((path) => ({
    path,
    ranges: diffs
      .filter((diff) => (changes.length === 1 && diffs.length === 1) || isOf(diff, path))
      .flatMap(({ ranges }) => ranges),
  }));
}

/** Diffs name files from their top directory on, changes often by their whole path. */
function isOf({ path: named }: AddedLines, path: string): boolean {
  return named !== null && (path === named || path.endsWith(`/${named}`) || named.endsWith(`/${path}`));
}

function rangeJson({ startLine, endLine, lines }: AddedRange): DocumentObject {
  const hash = murmur3(new TextEncoder().encode(lines.join('\n')));
  return { start_line: startLine, end_line: endLine, content_hash: `murmur3:${hash}` };
}

/** A UUID of version 8, which is that of ids made in a way of one's own. */
function recordId(url: string): string {
  const bytes = sha256(new TextEncoder().encode(`turnlog/agent-trace/${url}`)).slice(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
