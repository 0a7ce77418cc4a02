import { resolve } from 'node:path';
import { type EventStream, openEventStream, type StreamEnd } from '@turnlog/importers';
import { errnoOf, isTurnlogError, limits, type SessionId, type TurnlogError } from '@turnlog/kernel';
import type { WriterOptions } from '@turnlog/log';
import { parseSessionId } from '@turnlog/store';
import type { Context } from '../command.js';
import { exitOf } from '../error-envelope.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import * as flags from '../flags.js';
import { type CutLine, chunksUntil, LineCutter } from '../input.js';
import { Recording, type RecordingOptions, type RunFacts } from '../recording.js';
import { readTextFile } from '../text-file.js';
import { version } from '../version.js';

/** Appends the events on stdin while holding the lock of their session. */
export async function record(context: Context): Promise<number> {
  const { args, output, io } = context;
  const isTee = args.has(flags.teeFlag);
  const isAck = args.has(flags.ackFlag);
  if (Number(isTee) + Number(isAck) + Number(output.form !== 'text') > 1) {
    throw badFlag('--tee, --ack, --json and --jsonl all want stdout: only one of them can have it', {});
  }
  const options = recordingOptions(context);
  const stream = openEventStream(streamOptions(context));
  const recorder = new Recorder(context, stream, options);
  if (io.isTty.stdin)
    await output.note(output.shown`reading events from the terminal; Ctrl-D ends the input`);
  return await recorder.run();
}

function streamOptions({ args, clock, cwd, io }: Context): Parameters<typeof openEventStream>[0] {
  const file = args.get(flags.promptFileFlag);
  const given = args.get(flags.promptFlag);
  if (file !== undefined && given !== undefined)
    throw badFlag('--prompt and --prompt-file exclude each other', {});
  const prompt = file === undefined ? given : readTextFile(io.environment?.fs, resolve(cwd, file));
  return {
    from: args.get(flags.fromFlag) ?? 'auto',
    workspace: workspaceOf(args.get(flags.workspaceFlag), cwd),
    now: () => clock.now(),
    ...(prompt === undefined ? {} : { prompt }),
  };
}

function workspaceOf(given: string | undefined, cwd: string): string {
  return given === undefined ? cwd : resolve(cwd, given);
}

function recordingOptions(context: Context): Omit<RecordingOptions, 'onTrouble' | 'onDurable'> {
  const { args, settings, cwd } = context;
  const [id] = args.positionals;
  const run: RunFacts = {
    program: 'turnlog',
    version,
    cwd,
    workspace: workspaceOf(args.get(flags.workspaceFlag), cwd),
    ...parentOf(args.get(flags.parentFlag)),
  };
  return {
    id: id === undefined ? null : parseSessionId(id),
    run,
    writer: { durability: settings.durability, ...capOf(context), ...saltOf(context) },
    onFailure: args.has(flags.teeFlag) ? 'count' : 'stop',
  };
}

function saltOf({ args }: Context): Pick<WriterOptions, 'salt'> {
  return args.has(flags.redactableFlag) ? { salt: 'each' } : {};
}

function capOf({ args }: Context): Pick<WriterOptions, 'cap'> {
  const maxEvents = args.get(flags.maxEventsFlag);
  const maxBytes = args.get(flags.maxBytesFlag);
  const archive = args.get(flags.archiveFlag);
  const isCapped = maxEvents !== undefined || maxBytes !== undefined;
  if (archive !== undefined && !isCapped) {
    throw badFlag(
      '--archive says what becomes of turns that leave the log: name --max-events or --max-bytes too',
      {
        flag: 'archive',
      },
    );
  }
  if (!isCapped) return {};
  return {
    cap: {
      ...(maxEvents === undefined ? {} : { maxEvents }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(archive === undefined ? {} : { archive }),
    },
  };
}

/** `ID` names the session of the parent agent; `ID:SEQ` the record of a session that this one goes on from. */
function parentOf(text: string | undefined): Pick<RunFacts, 'parent' | 'forked_from'> {
  if (text === undefined) return {};
  const found = /^(?<id>.*):(?<seq>\d{1,15})$/su.exec(text);
  const session: SessionId = parseSessionId(found?.groups?.['id'] ?? text);
  if (found === null) return { parent: { session } };
  return { forked_from: { session, seq: Number(found.groups?.['seq']) } };
}

class Recorder {
  readonly #context: Context;
  readonly #stream: EventStream;
  readonly #options: Omit<RecordingOptions, 'onTrouble' | 'onDurable'>;
  readonly #cutter = new LineCutter(limits.readerLineBytesMax);
  /** What is to be told, in order; written between blocks, so that nothing waits inside of the log. */
  #troubles: string[] = [];
  #durable: number[] = [];
  /** Who read what is passed on has gone. */
  #isReaderGone = false;
  /** The stream is of no known kind: it is passed on, and nothing of it is stored. */
  #streamFailure: TurnlogError | null = null;

  constructor(
    context: Context,
    stream: EventStream,
    options: Omit<RecordingOptions, 'onTrouble' | 'onDurable'>,
  ) {
    this.#context = context;
    this.#stream = stream;
    this.#options = options;
  }

  async run(): Promise<number> {
    const { io, stop } = this.#context;
    const recording = await this.#start();
    let end: StreamEnd | null = null;
    try {
      await recording?.begin();
      for await (const chunk of chunksUntil(io.stdin, stop)) {
        await this.#passOn(chunk);
        if (recording !== null) await this.#takeBlock(recording, [...this.#cutter.push(chunk)]);
      }
      if (recording !== null) end = await this.#finish(recording);
    } finally {
      await recording?.close();
      await this.#tell();
    }
    return recording === null ? this.#exitWithoutLog() : await this.#exit(recording, end);
  }

  /** The store may be out of reach; then there is nothing to record into, but the input still goes on. */
  async #start(): Promise<Recording | null> {
    const isAck = this.#context.args.has(flags.ackFlag);
    try {
      const store = await this.#context.openStore();
      return new Recording(store, this.#stream, {
        ...this.#options,
        onTrouble: (text) => this.#troubles.push(text),
        onDurable: isAck ? (seq) => this.#durable.push(seq) : null,
      });
    } catch (error) {
      this.#keepGoing(error);
      return null;
    }
  }

  /** Lines of one block: what the stream makes of them is appended and handed over before more is read. */
  async #takeBlock(recording: Recording, lines: readonly CutLine[]): Promise<void> {
    for (const line of lines) {
      if (this.#streamFailure !== null) break;
      try {
        await recording.take(
          line.kind === 'line'
            ? this.#stream.push(line.bytes, line.ending)
            : this.#stream.skip(line.byteCount),
        );
      } catch (error) {
        this.#keepGoing(error);
      }
    }
    await recording.settle();
    await this.#tell();
  }

  async #finish(recording: Recording): Promise<StreamEnd> {
    const { stop } = this.#context;
    const rest = this.#cutter.end();
    // Half a line is no record: after a signal nobody sends the other half.
    if (rest !== null && stop.aborted) this.#troubles.push('the last line had not ended and is left out');
    else if (rest !== null) await this.#takeBlock(recording, [rest]);
    const end = this.#stream.end();
    await recording.take(end);
    await recording.settle();
    return end;
  }

  #keepGoing(error: unknown): void {
    if (this.#options.onFailure === 'stop' || !isTurnlogError(error)) throw error;
    this.#streamFailure ??= error;
    this.#troubles.push(`${error.message}; the input is passed on all the same`);
  }

  /** Passes a chunk on as it came, before anything is made of it. */
  async #passOn(chunk: Uint8Array): Promise<void> {
    const { args, output } = this.#context;
    if (!args.has(flags.teeFlag) || this.#isReaderGone) return;
    try {
      await output.exactly(chunk);
    } catch (error) {
      // The recorder outlives whoever reads behind it.
      if (errnoOf(error) !== 'EPIPE') throw error;
      this.#isReaderGone = true;
    }
  }

  async #tell(): Promise<void> {
    const { output } = this.#context;
    const troubles = this.#troubles.splice(0);
    const durable = this.#durable.splice(0);
    for (const text of troubles) await output.warn(output.shown`${text}`);
    if (durable.length === 0 || this.#isReaderGone) return;
    try {
      await output.lines(durable.map((seq) => output.words.json({ seq })));
    } catch (error) {
      if (errnoOf(error) !== 'EPIPE') throw error;
      this.#isReaderGone = true;
    }
  }

  async #exit(recording: Recording, end: StreamEnd | null): Promise<number> {
    const { output } = this.#context;
    const { id, appended, duplicates, refused, lost } = recording;
    if (output.form === 'text') {
      const place = id === null ? '' : ` into ${id}`;
      await output.note(
        output.shown`recorded ${appended} events${place}${counted(duplicates, 'there already')}${counted(refused, 'refused')}${counted(lost, 'lost')}`,
      );
    } else await output.document({ id, appended, duplicates, refused, lost });
    const failure = recording.failure ?? this.#streamFailure;
    if (failure !== null) return exitOf(failure);
    return refused > 0 || end?.outcome === 'in-turn' ? exits.negative : exits.done;
  }

  #exitWithoutLog(): number {
    return this.#streamFailure === null ? exits.done : exitOf(this.#streamFailure);
  }
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `, ${count} ${what}`;
}
