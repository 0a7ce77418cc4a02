import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { limits, TurnlogError } from '@turnlog/kernel';

/** Where messages come from and go to: one JSON text per line, as on stdin and stdout. */
export interface MessageStreams {
  /** The chunks of the input until `until` is aborted. */
  readonly input: (until: AbortSignal) => AsyncIterable<Uint8Array>;
  readonly output: { write(chunk: string | Uint8Array): Promise<void> };
}

/** Messages over two streams of bytes that the caller owns. */
export class MessageTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #streams: MessageStreams;
  readonly #ending = new AbortController();
  #sending: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;

  constructor(streams: MessageStreams) {
    this.#streams = streams;
  }

  async start(): Promise<void> {
    // The input is read by `run`, whose promise somebody waits for.
  }

  /**
   * Hands on what arrives until the input ends. A line that is no message is reported and passed over.
   *
   * @throws TURNLOG_RECORD_TOO_LARGE for a message without an end; what writing an answer failed with, as when
   *   nobody reads any more.
   */
  async run(): Promise<void> {
    const buffer = new ReadBuffer({ maxBufferSize: limits.mcpMessageBytesMax });
    for await (const chunk of this.#streams.input(this.#ending.signal)) {
      append(buffer, chunk);
      while (this.#takeOne(buffer));
    }
    this.check();
  }

  /** Resolves when everything that was answered has been handed over. @throws as `run` */
  async settled(): Promise<void> {
    // An answer is sent some promises behind the one that made it, all of them within this turn of the loop.
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    await this.#sending;
    this.check();
  }

  check(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const turn = this.#sending.then(async () => {
      this.check();
      await this.#streams.output.write(serializeMessage(message));
    });
    this.#sending = turn.catch((error: unknown) => {
      this.#failure ??= { error };
      this.#ending.abort();
    });
    await turn;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.onclose?.();
  }

  /** Whether there may be another one in what was read. */
  #takeOne(buffer: ReadBuffer): boolean {
    try {
      const message = buffer.readMessage();
      if (message === null) return false;
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
    return true;
  }
}

function append(buffer: ReadBuffer, chunk: Uint8Array): void {
  try {
    buffer.append(Buffer.from(chunk));
  } catch (cause) {
    const byteCountMax = limits.mcpMessageBytesMax;
    throw new TurnlogError('TURNLOG_RECORD_TOO_LARGE', { details: { byteCountMax }, cause });
  }
}
