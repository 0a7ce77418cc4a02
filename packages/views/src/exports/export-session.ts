import type { LogReader } from '@turnlog/log';
import { agentTraceRecords } from './agent-trace.js';
import { atifDocument } from './atif.js';
import { damageLines } from './damage.js';
import type {
  ExportChunk,
  ExportReport,
  ExportRequest,
  ExportSource,
  SessionExport,
} from './export-request.js';
import { ExportTally } from './export-tally.js';
import { jsonLines, rawLines } from './jsonl.js';
import { otlpDocument } from './otlp.js';
import { htmlRenderer, markdownRenderer } from './renderers.js';
import { sessionDocument } from './session-document.js';

/**
 * A session as a document. It is made while it is read, in memory that does not grow with what the records hold;
 * everything in it has passed the redactor. Reading begins with the first chunk.
 *
 * @throws while reading: TURNLOG_INVALID_SESSION_ID, NOT_FOUND, LOG_UNREADABLE, UNSAFE_PATH, IO.
 */
export function exportSession(request: ExportRequest): SessionExport {
  return new StreamedExport(request);
}

/**
 * The damaged places of the log, for a file apart (`exportFileName(id, 'damage')`): JSON lines of kind, line, offset
 * and length, with the bytes as base64. Empty when there is no damage.
 */
export function* exportDamage(
  request: ExportSource & Pick<ExportRequest, 'redactor'>,
): Iterable<ExportChunk> {
  yield* reading(request, (reader) => damageLines(reader, request.redactor));
}

class StreamedExport implements SessionExport {
  readonly #request: ExportRequest;
  readonly #tally: ExportTally = new ExportTally();

  constructor(request: ExportRequest) {
    this.#request = request;
  }

  get report(): ExportReport {
    return this.#tally.report;
  }

  *[Symbol.iterator](): Iterator<ExportChunk> {
    yield* reading(this.#request, (reader) => chunksOf(reader, this.#request, this.#tally));
  }
}

function* reading(
  source: ExportSource,
  work: (reader: LogReader) => Iterable<ExportChunk>,
): Iterable<ExportChunk> {
  if (source.reader !== undefined) {
    yield* work(source.reader);
    return;
  }
  const reader = source.store.read(source.id);
  try {
    yield* work(reader);
  } finally {
    reader.close();
  }
}

function chunksOf(reader: LogReader, request: ExportRequest, tally: ExportTally): Iterable<ExportChunk> {
  const { format, redactor, options = {} } = request;
  switch (format) {
    case 'jsonl':
      return options.raw === true ? rawLines(reader, tally) : jsonLines(reader, redactor, tally);
    case 'md':
      return sessionDocument(reader, request, markdownRenderer(request), tally);
    case 'html':
      return sessionDocument(reader, request, htmlRenderer(request), tally);
    case 'atif':
      return atifDocument(reader, redactor, tally);
    case 'agent-trace':
      return agentTraceRecords(reader, redactor, tally);
    case 'otlp': {
      const content = options.content === true ? 'with' : 'without';
      return otlpDocument(reader, { egress: redactor, content, store: request.store ?? null }, tally);
    }
  }
}
