import type { ThreadJob } from './thread-batch.js';

/** The records of a thread that copies share, in the order of its file, each with its time in milliseconds. */
export type SharedRecords = ReadonlyMap<string, number | null>;

/**
 * Threads in the order of their import: those that others come from first, else as they were found. Of threads with
 * the same beginning that name no parent, the one without records of its own comes first, then the one whose first
 * own record is older. `recordsOf` is asked for those alone; null is a file that cannot be read.
 */
export function orderThreads(
  jobs: readonly ThreadJob[],
  recordsOf: (job: ThreadJob) => SharedRecords | null,
): readonly ThreadJob[] {
  const byThread = new Map<string, ThreadJob[]>();
  for (const job of jobs) {
    for (const name of [job.identity.threadId, ...job.identity.aliases]) {
      const threads = byThread.get(name);
      if (threads === undefined) byThread.set(name, [job]);
      else threads.push(job);
    }
  }
  const ordered = new Set<ThreadJob>();
  const visit = (job: ThreadJob, path: ReadonlySet<ThreadJob>): void => {
    if (ordered.has(job) || path.has(job)) return;
    const deeper = new Set([...path, job]);
    for (const name of job.identity.after) {
      for (const before of byThread.get(name) ?? []) visit(before, deeper);
    }
    ordered.add(job);
  };
  for (const job of bySharedBeginning(jobs, recordsOf)) visit(job, new Set());
  return [...ordered];
}

function bySharedBeginning(
  jobs: readonly ThreadJob[],
  recordsOf: (job: ThreadJob) => SharedRecords | null,
): readonly ThreadJob[] {
  const groups = new Map<string, ThreadJob[]>();
  for (const job of jobs) {
    const beginning = job.identity.shared?.[0] ?? `\0${groups.size}`;
    const group = groups.get(beginning);
    if (group === undefined) groups.set(beginning, [job]);
    else group.push(job);
  }
  return [...groups.values()].flatMap((group) =>
    group.length === 1 ? group : parentsFirst(group, recordsOf),
  );
}

interface Fork {
  readonly job: ThreadJob;
  readonly records: SharedRecords | null;
}

function parentsFirst(
  group: readonly ThreadJob[],
  recordsOf: (job: ThreadJob) => SharedRecords | null,
): readonly ThreadJob[] {
  const forks = group.map((job) => ({ job, records: recordsOf(job) }));
  return forks.sort(compareForks).map(({ job }) => job);
}

/** Below 0 when `a` is the parent. What decides is the place where the two part. */
function compareForks(a: Fork, b: Fork): number {
  const bySize = a.job.found.status.size - b.job.found.status.size;
  if (a.records === null || b.records === null) return bySize;
  const [ownOfA, ownOfB] = [firstOwn(a.records, b.records), firstOwn(b.records, a.records)];
  if (ownOfA === null || ownOfB === null) return Number(ownOfA !== null) - Number(ownOfB !== null);
  return ownOfA === ownOfB ? bySize : ownOfA - ownOfB;
}

/** Time of the first record that the other lacks, behind every known one where it says none; null: there is none. */
function firstOwn(records: SharedRecords, others: SharedRecords): number | null {
  for (const [identity, ms] of records) {
    if (!others.has(identity)) return ms ?? Number.MAX_SAFE_INTEGER;
  }
  return null;
}
