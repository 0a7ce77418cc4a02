import type { RecordEmitter } from './record-emitter.js';
import { isMembers, type Members, textMember } from './source-object.js';
import type { RecordPlace, ThreadContext, ThreadStep } from './thread-format.js';

/** How an event of a record is keyed, where it is not simply the next one. */
export interface Telling {
  /** Tells apart what one record says in several roles. */
  readonly part?: string;
  /** In place of the record's identity: whoever says the same of it says it once. */
  readonly identity?: string;
  /** Members that were counted or made up here. */
  readonly derived?: readonly string[];
}

/** Says what one record of a conversation gives. A plain emitter of records is one. */
export interface ClaudeVoice {
  /** What the record's keys are made of, where turns are told apart by the record that opened them. */
  readonly identity?: string | undefined;
  emit(event: object, telling?: Telling): void;
  /** The part that names a stored medium; undefined where nothing can be stored, or the block holds none. */
  media?(block: Members): object | undefined;
  /** The part that names an output which the program stored in a file of its own. */
  spooled?(text: string): object | undefined;
}

/** The same voice for one part of a record: its events are counted apart from the others. */
export function apart(voice: ClaudeVoice, part: string): ClaudeVoice {
  return {
    identity: voice.identity,
    emit: (event, telling) => voice.emit(event, { part, ...telling }),
    media: (block) => voice.media?.(block),
    spooled: (text) => voice.spooled?.(text),
  };
}

/** A record of a transcript, with whatever its events are keyed by. A plain value. */
export interface ClaudeRow {
  readonly place: RecordPlace;
  /** Its own id; of a record that stands inside another, that of the inner one. */
  readonly id?: string | undefined;
  readonly parent?: string | undefined;
  readonly derived?: readonly string[] | undefined;
  /** The session of the sub-agent that it belongs to. */
  readonly child?: string | undefined;
}

export interface RowTools {
  readonly step: ThreadStep;
  readonly readBeside: ThreadContext['readBeside'];
  /** `muted`: what is copied from elsewhere is followed and not said again. */
  readonly sound: 'heard' | 'muted';
}

/** Says what one record of a transcript gives. */
export class RowVoice implements ClaudeVoice {
  readonly #row: ClaudeRow;
  readonly #tools: RowTools;
  readonly #emitters = new Map<string, RecordEmitter>();

  constructor(row: ClaudeRow, tools: RowTools) {
    this.#row = row;
    this.#tools = tools;
  }

  get row(): ClaudeRow {
    return this.#row;
  }

  get identity(): string {
    const { child, id, place } = this.#row;
    return child === undefined ? place.identity : (id ?? `${place.identity}\0inner`);
  }

  emit(event: object, telling: Telling = {}): void {
    if (this.#tools.sound === 'heard') this.#emitterFor(telling).emit(event);
  }

  media(block: Members): object | undefined {
    const { source } = block;
    if (!isMembers(source) || source['type'] !== 'base64') return undefined;
    const data = textMember(source, 'data');
    if (data === undefined) return undefined;
    const type = textMember(source, 'media_type') ?? 'application/octet-stream';
    return this.#store(Buffer.from(data, 'base64'), type, textMember(block, 'title'));
  }

  spooled(text: string): object | undefined {
    const names = spooledName.exec(text);
    if (names === null) return undefined;
    const [, directory = '', name = ''] = names;
    const bytes = this.#tools.readBeside([directory, 'tool-results', name]);
    return bytes === null ? undefined : this.#store(bytes, 'text/plain', name);
  }

  #store(bytes: Uint8Array, mediaType: string, name: string | undefined): object | undefined {
    return this.#tools.sound === 'heard' ? this.#tools.step.asset(bytes, mediaType, name) : {};
  }

  #emitterFor({ part, identity = this.identity, derived }: Telling): RecordEmitter {
    const name = `${identity}\0\0${part ?? ''}`;
    const known = this.#emitters.get(name);
    if (known !== undefined) return known;
    const { id, parent, derived: ofRow, child, place } = this.#row;
    const all = [...(ofRow ?? []), ...(derived ?? [])];
    const emitter = this.#tools.step.emitter(place, {
      identity,
      ...(part === undefined ? {} : { part }),
      ...(child === undefined ? {} : { childSessionId: child }),
      ...(id === undefined ? {} : { id }),
      ...(parent === undefined ? {} : { parent }),
      ...(all.length === 0 ? {} : { derived: all }),
    });
    this.#emitters.set(name, emitter);
    return emitter;
  }
}

/** Where the program says that it stored an output: the file has its session's folder above it. */
const spooledName =
  /^<persisted-output>[\s\S]{0,200}?saved to: [^\n]*\/([0-9A-Za-z-]{1,64})\/tool-results\/([0-9A-Za-z][0-9A-Za-z._-]{0,127})\n/;
