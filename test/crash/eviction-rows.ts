import type { ModelFileSystem } from '@turnlog/testkit';
import { readNaively } from '@turnlog/testkit';

/** Rows of the table of crashes during an eviction (log specification, §10), by what a disk shows. */
export const crashRows = [
  'before or in R1',
  'after R1',
  'in R2',
  'after R2',
  'in R3, R4',
  'after R5',
  'after R6',
  'after R7',
  'after R8',
  'done',
] as const;

export type CrashRow = (typeof crashRows)[number];

/** The row of a disk on which an eviction of turns up to `toSeq` was stopped; null when it shows none of them. */
export function rowOf(disk: ModelFileSystem, directory: string, toSeq: number): CrashRow | null {
  const at = (name: string): string => `${directory}/${name}`;
  const text = (name: string): string | null =>
    disk.status(at(name)) === null ? null : Buffer.from(disk.contentOf(at(name))).toString('latin1');
  const names = (name: string): readonly string[] =>
    disk.status(at(name)) === null ? [] : disk.list(at(name)).map((entry) => entry.name);
  const events = text('events.jsonl');
  if (events === null) return null;
  const { header, records } = readNaively(Buffer.from(events, 'latin1'));
  const isNew = header?.seq === toSeq;
  const hasMarker = names('index').includes('pending-rewrite.json');
  if (isNew) return rowOfNewLog(header.event['generation'], text, hasMarker);
  if (hasMarker) return 'after R5';
  const hasTemporary = (name: string): boolean => names(name).some((entry) => entry.startsWith('.t-'));
  const isArchived = names('archive').some((name) => name.includes(`-${toSeq}.`));
  if (isArchived) return hasTemporary('.') ? 'in R3, R4' : 'after R2';
  if (hasTemporary('archive')) return 'in R2';
  const hasSummary = records.some(({ key }) => key?.startsWith('summary:') && key.endsWith(`-${toSeq}`));
  return hasSummary ? 'after R1' : 'before or in R1';
}

function rowOfNewLog(
  generation: unknown,
  text: (name: string) => string | null,
  hasMarker: boolean,
): CrashRow {
  if (!hasMarker) return 'done';
  const isOf = (name: string): boolean => text(name)?.includes(`"generation":"${generation}"`) === true;
  if (isOf('manifest.json')) return 'after R8';
  return isOf('index/turns.jsonl') ? 'after R7' : 'after R6';
}
