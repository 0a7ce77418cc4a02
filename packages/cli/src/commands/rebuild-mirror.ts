import type { MirrorCheck } from '@turnlog/mirror';
import type { Store } from '@turnlog/store';
import type { Context } from '../command.js';
import * as flags from '../flags.js';

/** What became of the mirror of the store. */
export interface MirrorOutcome {
  /** `off`: there is no SQLite here. `behind`: some sessions could not be read. */
  readonly outcome: MirrorCheck['outcome'] | 'rebuilt' | 'behind' | 'off';
  readonly digest: string | null;
  readonly publishedDigest: string | null;
  readonly difference: MirrorCheck['difference'];
  /** Why it is not, or not wholly, what was asked for. */
  readonly degraded: readonly string[];
}

const nothing = { digest: null, publishedDigest: null, difference: null, degraded: [] };

/**
 * Builds the mirror anew, or compares it with one built anew. Null when nobody asked for it: without `--only` that is
 * when there is none. SQLite is loaded here and nowhere before.
 *
 * @throws TURNLOG_LOCKED, TURNLOG_IO
 */
export async function rebuildMirrorOf({ args, stop }: Context, store: Store): Promise<MirrorOutcome | null> {
  const only = args.get(flags.onlyFlag);
  if (only !== undefined && !only.includes('mirror')) return null;
  const { mirrorNames, openMirror } = await import('@turnlog/mirror');
  const isThere = store.environment.fs.status(`${store.root}/${mirrorNames.file}`) !== null;
  if (only === undefined && (!isThere || args.positionals.length > 0)) return null;
  const opened = await openMirror(store);
  if (opened.kind === 'off') return { ...nothing, outcome: 'off', degraded: [opened.reason] };
  const { mirror } = opened;
  try {
    if (args.has(flags.checkFlag)) return { ...(await mirror.check({ signal: stop })), degraded: [] };
    const { isComplete, failed, degraded } = await mirror.rebuild({ signal: stop });
    if (!isComplete) return { ...nothing, outcome: 'cut-short', degraded };
    return { ...nothing, outcome: failed.length === 0 ? 'rebuilt' : 'behind', degraded };
  } finally {
    mirror.close();
  }
}

const drift: ReadonlySet<MirrorOutcome['outcome']> = new Set(['different', 'wrong']);
const failures: ReadonlySet<MirrorOutcome['outcome']> = new Set(['off', 'behind', 'cut-short']);

/** Whether the mirror says something else than the logs. */
export function isMirrorDrift(outcome: MirrorOutcome | null): boolean {
  return outcome !== null && drift.has(outcome.outcome);
}

/** Whether what was asked for could not be done, or not wholly. */
export function isMirrorFailure(outcome: MirrorOutcome | null): boolean {
  return outcome !== null && failures.has(outcome.outcome);
}

export async function printMirror({ output }: Context, mirror: MirrorOutcome): Promise<void> {
  if (output.form !== 'text') return;
  const { shown } = output;
  const { outcome, difference, degraded } = mirror;
  for (const reason of degraded) await output.warn(shown`mirror: ${reason}`);
  if (!isMirrorDrift(mirror)) return;
  const place =
    difference === null ? '' : ` at ${difference.table} ${difference.key} ${difference.column ?? ''}`;
  const head = shown`${output.paint('red', outcome)}  mirror${place.trimEnd()}`;
  const values =
    difference === null
      ? []
      : [
          shown`  published: ${difference.published ?? 'nothing'}`,
          shown`  rebuilt:   ${difference.rebuilt ?? 'nothing'}`,
        ];
  await output.lines([head, ...values]);
}

export function mirrorJson(mirror: MirrorOutcome): Readonly<Record<string, unknown>> {
  const { outcome, digest, publishedDigest, difference, degraded } = mirror;
  return { outcome, digest, published_digest: publishedDigest, difference, degraded };
}
