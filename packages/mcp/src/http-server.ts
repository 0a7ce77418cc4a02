import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { limits, TurnlogError } from '@turnlog/kernel';
import { openSearch } from '@turnlog/search';
import { type Refusal, refusalOf } from './http-refusal.js';
import { CallQueue, type McpService, serverOf } from './server.js';

export interface McpHttpOptions extends McpService {
  /** 0 lets the system choose. */
  readonly port: number;
  /** What every request must show as `Authorization: Bearer …`. */
  readonly token: string;
  /** Ends the server when the calls that have arrived are answered. */
  readonly stop: AbortSignal;
  /** Told the address when it can be reached. */
  readonly onListening: (url: string) => Promise<void>;
}

/** Nobody but this machine reaches it. */
const host = '127.0.0.1';

/**
 * Serves a store over HTTP until it is stopped: the streamable transport of the protocol without sessions, so that a
 * request needs nothing but itself, and clients do not know of each other. Calls of all clients are answered one after
 * the other.
 *
 * @throws TURNLOG_IO when the port cannot be listened on.
 */
export async function serveMcpHttp(options: McpHttpOptions): Promise<void> {
  const search = openSearch(options.store, options.engines);
  const calls = new CallQueue({ ...options, search });
  const server = createServer((request, response) => {
    // Where an answer cannot be written, nobody waits for it any more.
    answer(request, response, options, calls).catch((error: unknown) => {
      options.onError(error instanceof Error ? error : new Error(String(error)));
      response.destroy();
    });
  });
  server.maxConnections = limits.mcpConnectionsMax;
  try {
    const port = await listening(server, options.port);
    await options.onListening(`http://${host}:${port}/mcp`);
    await stopped(options.stop);
    await closed(server, calls);
  } finally {
    server.closeAllConnections();
    search.close();
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: McpHttpOptions,
  calls: CallQueue,
): Promise<void> {
  const port = request.socket.localPort ?? 0;
  const refusal = refusalOf(request, { port, token: options.token });
  if (refusal !== null) {
    refuse(response, refusal);
    return;
  }
  const body = await bodyOf(request);
  if (body === null) {
    refuse(response, { status: 413, message: 'the message is too long', headers: { connection: 'close' } });
    return;
  }
  const message = parsed(body);
  if (message === undefined) {
    refuse(response, { status: 400, message: 'the body is no JSON', headers: {} });
    return;
  }
  const server = serverOf(options, calls);
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await server.connect(transportOver(transport));
    await transport.handleRequest(request, response, message);
  } finally {
    await server.close();
  }
}

/** The same transport by the type that servers connect to: its own allows members that are there and undefined. */
function transportOver(inner: StreamableHTTPServerTransport): Transport {
  const transport: Transport = {
    start: () => inner.start(),
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
  };
  inner.onmessage = (message, extra) => transport.onmessage?.(message, extra);
  inner.onerror = (error) => transport.onerror?.(error);
  inner.onclose = () => transport.onclose?.();
  return transport;
}

function refuse(response: ServerResponse, { status, message, headers }: Refusal): void {
  const error = { jsonrpc: '2.0', error: { code: -32_000, message }, id: null };
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(error));
}

/** Null when it is longer than a message may be: the rest is not read. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    byteCount += bytes.length;
    if (byteCount > limits.mcpMessageBytesMax) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function listening(server: HttpServer, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(port, cause)));
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

function cannotListen(port: number, cause: Error): TurnlogError {
  const errno = 'code' in cause && typeof cause.code === 'string' ? cause.code : null;
  return new TurnlogError('TURNLOG_IO', {
    details: { operation: 'listen', path: `${host}:${port}`, errno },
    cause,
    message: `cannot listen on ${host}:${port}: ${errno ?? cause.message}`,
  });
}

async function stopped(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return;
  await new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** No new connection from now on; what has been asked is answered. */
async function closed(server: HttpServer, calls: CallQueue): Promise<void> {
  const isClosed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  await calls.settled();
  // Answers are written in this turn of the loop, and then nobody is waiting any more.
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  server.closeAllConnections();
  await isClosed;
}
