import type { FileHandle } from '@turnlog/kernel';
import { openLogReader } from '@turnlog/log';
import { DigestSet } from './digest-set.js';
import type { ImportTarget } from './import-target.js';
import { importKey } from './record-emitter.js';
import { placesBefore, RecordPlaces } from './record-places.js';
import type { SessionIndex } from './session-index.js';
import { openSink } from './session-sink.js';
import { isMembers, textMember } from './source-object.js';
import type { MappedEvent } from './stream-types.js';
import type { SourcePlace, ThreadFormat, ThreadIdentity } from './thread-format.js';
import { ThreadPass } from './thread-pass.js';

/** What tells a source that gave only its prompts from one that was imported. */
export const promptsPart = 'prompts';

/** A thread that was recorded as it ran, and the file that the agent wrote of it. */
export interface RecordedThread {
  readonly target: ImportTarget;
  readonly format: ThreadFormat;
  readonly index: SessionIndex;
  readonly file: FileHandle;
  readonly place: SourcePlace;
  readonly identity: ThreadIdentity;
  readonly sessionId: string;
}

/**
 * A stream does not hold what the user said: appends the prompts of the file to the turns of the recorded session
 * that have none, as `user.message` with `turn` and `late`. Returns how many there were. Repeated it adds nothing.
 */
export async function appendLatePrompts(thread: RecordedThread): Promise<number> {
  const prompts = await promptsOf(thread);
  const missing = turnsWithoutPrompt(thread).flatMap((turn) => {
    const prompt = prompts.get(turn);
    return prompt === undefined ? [] : [{ turn, prompt }];
  });
  if (missing.length === 0) return 0;
  const sink = await openSink(thread.target, thread.sessionId);
  const { format, place } = thread;
  const { name, path } = place;
  const source = { type: 'run.source', file: promptsPart, format: format.name, mapping: format.mapping };
  sink.append({
    event: { raw: JSON.stringify({ ...source, path, name, part: promptsPart }) },
    key: importKey(format.name, `source\0${promptsPart}`, 0),
  });
  for (const { turn, prompt } of missing) sink.append(late(prompt, turn));
  await sink.finish();
  return missing.length;
}

/** The prompts of the file by the number of their turn, folded as if the file were imported. */
async function promptsOf(thread: RecordedThread): Promise<ReadonlyMap<number, MappedEvent>> {
  const { format, file, identity, index, sessionId } = thread;
  const prompts = new Map<number, MappedEvent>();
  let turn = 0;
  const { size } = file.status();
  const context = {
    sessionId,
    identity,
    recorded: null,
    isInStore: true,
    store: index.viewFor(sessionId),
    readBeside: () => null,
  };
  const sets = { records: new DigestSet(), shared: new DigestSet() };
  const pass = new ThreadPass({
    file,
    format,
    mapper: format.mapper(context, null),
    places: new RecordPlaces(format, promptsPart, placesBefore(identity), sets),
    from: { offset: 0, line: 1 },
    size,
    finalAt: [size],
    countedTo: 0,
    runSource: null,
    childSource: null,
    name: promptsPart,
    newestMs: null,
    answers: new DigestSet(),
    onAsset: () => undefined,
    onEvent: (event) => {
      const raw = 'raw' in event.event ? event.event.raw : '';
      if (raw.startsWith('{"type":"turn.started"')) turn += 1;
      if (ownWords.test(raw) && !prompts.has(turn)) prompts.set(turn, event);
    },
    onChildEvents: () => Promise.resolve(),
    onBreath: () => Promise.resolve(),
    signal: null,
  });
  await pass.run();
  return prompts;
}

const ownWords =
  /^\{"type":"user\.message","id":"[^"]*","origin":"(?:prompt|slash_command|shell_bang|subagent_prompt)"/;

function turnsWithoutPrompt({ target, sessionId }: RecordedThread): readonly number[] {
  const directory = `${target.sessionsDirectory}/${sessionId}`;
  const reader = openLogReader(target.environment.fs, directory, sessionId);
  try {
    const turns = new Set<number>();
    const said = new Set<number>();
    for (const record of reader.records()) {
      if (record.turn !== null) turns.add(record.turn);
      if (record.type !== 'user.message') continue;
      const event: unknown = record.readEvent();
      const turn = isMembers(event) && typeof event['turn'] === 'number' ? event['turn'] : record.turn;
      if (isMembers(event) && textMember(event, 'origin') !== 'injected' && turn !== null) said.add(turn);
    }
    return [...turns].filter((turn) => !said.has(turn));
  } finally {
    reader.close();
  }
}

const srcHead = ',"src":{';

function late(prompt: MappedEvent, turn: number): MappedEvent {
  const raw = 'raw' in prompt.event ? prompt.event.raw : '';
  const at = raw.lastIndexOf(srcHead);
  const event = { raw: `${raw.slice(0, at)},"turn":${turn},"late":true${raw.slice(at)}` };
  return { ...prompt, event };
}
