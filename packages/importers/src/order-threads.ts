import type { ThreadJob } from './thread-batch.js';

/**
 * Threads in the order of their import: those that others come from first, else as they were found. Forks that
 * name no parent come behind smaller files with the same beginning: a copy holds what it was copied from.
 */
export function orderThreads(jobs: readonly ThreadJob[]): readonly ThreadJob[] {
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
  for (const job of bySharedBeginning(jobs)) visit(job, new Set());
  return [...ordered];
}

function bySharedBeginning(jobs: readonly ThreadJob[]): readonly ThreadJob[] {
  const groups = new Map<string, ThreadJob[]>();
  for (const job of jobs) {
    const beginning = job.identity.shared?.[0] ?? `\0${groups.size}`;
    const group = groups.get(beginning);
    if (group === undefined) groups.set(beginning, [job]);
    else group.push(job);
  }
  return [...groups.values()].flatMap((group) =>
    group.length === 1 ? group : [...group].sort((a, b) => a.found.status.size - b.found.status.size),
  );
}
