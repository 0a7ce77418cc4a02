import { limits } from '@turnlog/kernel';

/**
 * What a session says of itself in its records: shown in lists without reading the log. The first
 * `run.started`, the workspaces of all of them, and the newest title, tags and archived of `journal.set`.
 */
export interface SessionFacts {
  /** Distinct workspaces, the newest last. */
  readonly workspaces: readonly string[];
  readonly agent?: string;
  readonly forkedFrom?: Readonly<Record<string, unknown>>;
  readonly title?: string;
  readonly tags?: readonly string[];
  readonly archived?: boolean;
}

export const noFacts: SessionFacts = { workspaces: [] };

/** Types of records that change the facts. */
export function changesFacts(type: string): boolean {
  return type === 'run.started' || type === 'journal.set';
}

/** The facts after one more event of a type that changes them; members of another shape are passed over. */
export function factsAfter(facts: SessionFacts, event: Readonly<Record<string, unknown>>): SessionFacts {
  if (event['type'] === 'run.started') return afterRun(facts, event);
  if (event['type'] === 'journal.set') return afterSet(facts, event);
  return facts;
}

function afterRun(facts: SessionFacts, event: Readonly<Record<string, unknown>>): SessionFacts {
  const workspace = workspaceOf(event);
  const workspaces =
    workspace === null
      ? facts.workspaces
      : [...facts.workspaces.filter((known) => known !== workspace), workspace].slice(-limits.workspacesMax);
  // The first run that says anything names agent and parent; what it said is what can be asked here.
  const isFirst =
    facts.workspaces.length === 0 && facts.agent === undefined && facts.forkedFrom === undefined;
  if (!isFirst) return { ...facts, workspaces };
  const agent = event['agent'];
  const forkedFrom = event['forked_from'];
  return {
    ...facts,
    workspaces,
    ...(typeof agent === 'string' ? { agent } : {}),
    ...(isPlainObject(forkedFrom) ? { forkedFrom } : {}),
  };
}

function afterSet(facts: SessionFacts, event: Readonly<Record<string, unknown>>): SessionFacts {
  const title = event['title'];
  const tags = event['tags'];
  const archived = event['archived'];
  return {
    ...facts,
    ...(typeof title === 'string' ? { title } : {}),
    ...(isTextList(tags) ? { tags } : {}),
    ...(typeof archived === 'boolean' ? { archived } : {}),
  };
}

/** The workspace of a `run.started`: else the directory it was started in; null when neither is named. */
export function workspaceOf(event: Readonly<Record<string, unknown>>): string | null {
  for (const value of [event['workspace'], event['cwd']]) {
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

/** Whether `value` is an object that is no array. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
