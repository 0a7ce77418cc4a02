import type { SessionId } from '@turnlog/kernel';
import type { EventInput, SharedHandle } from '@turnlog/log';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import { badFlag, type Flag, writtenFlag } from '../flag.js';
import * as flags from '../flags.js';
import { lockWaitOf } from '../stopping.js';
import { pin, remove, restore, unpin } from './session-keeping.js';

/** What is set of a session, and what it is then. */
interface Setting {
  readonly member: 'title' | 'tags' | 'archived';
  /** The new value, from what the log says now; null when it is so already. */
  change(state: SharedHandle['state']): string | boolean | readonly string[] | null;
  /** What was done, for people. */
  readonly words: string;
}

type SettingOf = (context: Context, values: readonly string[]) => Setting;

const settings: ReadonlyMap<string, SettingOf> = new Map([
  ['rename', renaming],
  ['tag', tagging],
  ['archive', archiving],
]);

type KeepingVerb = (context: Context, reference: string) => Promise<number>;

/** What decides whether a session stays, and the flags of it. */
const keeping: ReadonlyMap<string, readonly [act: KeepingVerb, flags: readonly Flag<unknown>[]]> = new Map([
  ['pin', [pin, [flags.reasonFlag]]],
  ['unpin', [unpin, []]],
  ['delete', [remove, [flags.dryRunFlag, flags.yesFlag]]],
  ['restore', [restore, [flags.dryRunFlag]]],
]);

const ownFlags: readonly Flag<unknown>[] = [
  flags.removeFlag,
  flags.undoFlag,
  flags.reasonFlag,
  flags.dryRunFlag,
  flags.yesFlag,
];

/** Does one thing with a session, or with a removed one. */
export async function session(context: Context): Promise<number> {
  const [verb = '', reference = '', ...values] = context.args.positionals;
  const found = keeping.get(verb);
  if (found === undefined) return await change(context, verb, reference, values);
  const [act, taken] = found;
  refuseFlags(
    context,
    verb,
    ownFlags.filter((flag) => !taken.includes(flag)),
  );
  if (values.length > 0) throw badFlag(`session ${verb} takes one argument`, { argument: values[0] });
  return await act(context, reference);
}

/** Sets title, tags or archived of a session: a record in its log, of which the newest counts. */
async function change(
  context: Context,
  verb: string,
  reference: string,
  values: readonly string[],
): Promise<number> {
  const { output } = context;
  const setting = settings.get(verb)?.(context, values);
  if (setting === undefined) throw badFlag(`session has no ${JSON.stringify(verb)}`, { verb });
  const store = await context.openStore();
  const id: SessionId = store.resolve(reference);
  const result = await store.transaction(id, (log) => setIn(log, setting), lockWaitOf(context.args));
  const { title, isArchived, tags } = store.summarize(id);
  if (output.form === 'text') {
    await output.note(output.shown`${id}: ${result === null ? 'nothing to change' : setting.words}`);
  } else {
    await output.document({ id, seq: result, changed: result !== null, title, tags, archived: isArchived });
  }
  return exits.done;
}

/** The seq of the record; null when there was nothing to change. */
function setIn(log: SharedHandle, { member, change }: Setting): number | null {
  const value = change(log.state);
  if (value === null) return null;
  const event = { type: 'journal.set', fence: null, [member]: value };
  const input: EventInput = { raw: JSON.stringify(event) };
  return log.append(input).seq;
}

const titleCodePointsMax = 200;
const tagCodePointsMax = 64;
const tagsMax = 64;

function refuseFlags({ args }: Context, verb: string, others: readonly Flag<unknown>[]): void {
  const found = others.find((flag) => args.has(flag));
  if (found !== undefined)
    throw badFlag(`session ${verb} takes no ${writtenFlag(found)}`, { flag: found.name });
}

function renaming(context: Context, values: readonly string[]): Setting {
  refuseFlags(context, 'rename', ownFlags);
  const [title = '', ...rest] = values;
  if (rest.length > 0 || title.trim() === '') throw badFlag('session rename takes one TITLE', {});
  if (/\p{Cc}/u.test(title) || [...title].length > titleCodePointsMax) {
    throw badFlag(`a title is one line of at most ${titleCodePointsMax} characters`, {});
  }
  return {
    member: 'title',
    change: ({ facts }) => (facts.title === title ? null : title),
    words: `is now ${JSON.stringify(title)}`,
  };
}

function tagging(context: Context, values: readonly string[]): Setting {
  refuseFlags(
    context,
    'tag',
    ownFlags.filter((flag) => flag !== flags.removeFlag),
  );
  if (values.length === 0) throw badFlag('session tag takes at least one TAG', {});
  const bad = values.find((tag) => tag.trim() !== tag || tag === '' || /\p{Cc}/u.test(tag));
  if (bad !== undefined || values.some((tag) => [...tag].length > tagCodePointsMax)) {
    throw badFlag(`a tag is a word of at most ${tagCodePointsMax} characters`, { tag: bad ?? null });
  }
  const isRemoving = context.args.has(flags.removeFlag);
  return {
    member: 'tags',
    change: ({ facts: { tags = [] } }) => {
      const left = tags.filter((tag) => !values.includes(tag));
      const changed = isRemoving ? left : [...new Set([...tags, ...values])];
      if (changed.length > tagsMax) throw badFlag(`a session has at most ${tagsMax} tags`, {});
      return changed.length === tags.length ? null : changed;
    },
    words: `${isRemoving ? 'no longer has' : 'has'} ${values.map((tag) => JSON.stringify(tag)).join(', ')}`,
  };
}

function archiving(context: Context, values: readonly string[]): Setting {
  refuseFlags(
    context,
    'archive',
    ownFlags.filter((flag) => flag !== flags.undoFlag),
  );
  if (values.length > 0) throw badFlag('session archive takes an ID only', {});
  const archived = !context.args.has(flags.undoFlag);
  return {
    member: 'archived',
    change: ({ facts }) => ((facts.archived ?? false) === archived ? null : archived),
    words: archived ? 'is archived; sessions lists it with --archived' : 'is back in the list',
  };
}
