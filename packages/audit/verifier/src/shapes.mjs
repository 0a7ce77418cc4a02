// What objects of a pack and of a log must have.

import { isCount, isHash, isObject, isText } from './bytes.mjs';

/** The members of objects, each with its kind; with `?` one may be null, with `*` it is a list. */
export const shapes = new Map(
  `pack session_id:id generated_at:text status:text turn_count:count event_count:count entries:entry*
  entry path:path bytes:count sha256:hash role:text; packed size:count root:hash frontier:hash* evicted:count
  own first_seq:count? last_seq:count last_ts:text? log_generation:text? tree:packed damage:damage* redacted:redacted* assets:asset* previous:previous?
  damage offset:count length:count kind:text sha256:hash; redacted index:count seq:count statement_seq:count?
  asset sha256:hash bytes:count? media_type:text?; previous pack_sha256:hash size:count root:hash consistency:hash*
  header from_seq:count to_seq:count events:count turns:count last_turn:count tree:head archive:archive?; head size:count frontier:hash*
  archive file:text codec:text bytes:count raw_bytes:count raw_sha256:hash; statement indexes:any* leaves:any* reason:text actor:text
  @thread.started thread_id:text; @turn.completed usage:object; @turn.failed message:text
  @thread.completed thread_id:text session_id:text subtype:text outcome_code:text usage:object numbers:counted`
    .split(/\n|; /)
    .map((line) => line.trim().split(' '))
    .map(([name, ...members]) => [name, members.map((member) => /(\w+):(\w+)(.?)/.exec(member))]),
);

/** Whether a path from a pack or a bundle names something below the directory that is verified, on every system. */
export const isEntryPath = (path) => isText(path) && !/^$|^\/|\/$|\/\/|\\|\0|^[A-Za-z]:|(?:^|\/)\.\.?(?:\/|$)/.test(path);

const kinds = {
  ...{ text: isText, count: isCount, hash: isHash, object: isObject, path: isEntryPath, any: () => true },
  counted: (numbers) => (numbers.get('event.num_turns') ?? '') !== '',
  id: (id) => /^[a-z\d][\w.-]{0,127}$/i.test(id) && !/\.$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(id),
};

function isKind(kind, mark, value) {
  if (mark === '*') return Array.isArray(value) && value.length <= 1e6 && value.every((each) => isKind(kind, '', each));
  return (mark === '?' && value === null) || (kinds[kind] ? kinds[kind](value) : fits(kind, value));
}

/** The first member that is missing or of another kind. */
export const faultIn = (shape, value) => shapes.get(shape).find(([, name, kind, mark]) => !isKind(kind, mark, value[name]))?.[1];

export const fits = (shape, value) => isObject(value) && faultIn(shape, value) === undefined;
