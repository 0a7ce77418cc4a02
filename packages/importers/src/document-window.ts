import { JsonTokenizer, limits, sha256Hex } from '@turnlog/kernel';
import { type ByteSource, readFully } from '@turnlog/log';
import { elementSpans, memberSpans, type Span } from './json-text.js';
import type { RefusalReason } from './line-objects.js';
import type { SourcePiece, SourcePosition, WindowOptions } from './record-window.js';
import { SourceObject } from './source-object.js';
import type { Lookahead } from './thread-format.js';

/** A longer document is not read. */
export const documentBytesMax = 268_435_456;

/** The number of a line in a source that has none. */
export const noLine = 0;

/** How a file that is one JSON object is recognised and taken apart. */
export interface DocumentShape {
  /** Whether the document is one record, or taken apart into several. */
  readonly records: 'whole' | 'parts';
  /** What its first bytes look like, read as Latin-1: only such a file is looked at as a whole. */
  readonly head: RegExp;
  /** Members that are lists of records. Every other member that is an object is one record. */
  readonly lists: readonly string[];
}

const tokenizer = new JsonTokenizer();
/** A word of JSON, or the rest of a character, is shorter. */
const wordBytesMax = 7;
const lineFeed = 0x0a;
const quote = 0x22;
const openBrace = 0x7b;
const openBracket = 0x5b;

/** The whole of a document as one object; null when the bytes hold none, or more than one. */
export function documentIn(bytes: Uint8Array): SourceObject | null {
  const span = documentSpan(bytes);
  return 'reason' in span ? null : new SourceObject(bytes, span, noLine, span.start);
}

/**
 * Takes one JSON document apart into records: the objects of its lists and its members that are objects. What else it
 * holds is kept by name, and what stands between is framing. Until the document is whole there is nothing.
 */
export class DocumentWindow implements Lookahead {
  readonly #pieces: readonly SourcePiece[];
  readonly #objects: readonly SourceObject[];
  readonly #isFinal: boolean;
  #at = 0;
  #objectsTaken = 0;

  constructor(source: ByteSource, { from, to, isFinal }: WindowOptions, shape: DocumentShape) {
    this.#isFinal = isFinal;
    this.#pieces = from.offset >= to ? [] : piecesOf(source, from.offset, to, isFinal, shape);
    this.#objects = this.#pieces.flatMap((piece) => (piece.kind === 'object' ? [piece.object] : []));
  }

  next(): SourcePiece | null {
    const piece = this.#pieces[this.#at];
    if (piece === undefined) return null;
    this.#at += 1;
    if (piece.kind === 'object') this.#objectsTaken += 1;
    return piece;
  }

  peek(n: number): SourceObject | 'end' | 'later' {
    return this.#objects[this.#objectsTaken + n - 1] ?? (this.#isFinal ? 'end' : 'later');
  }
}

function piecesOf(
  source: ByteSource,
  from: number,
  to: number,
  isFinal: boolean,
  shape: DocumentShape,
): readonly SourcePiece[] {
  const whole = { start: at(from), end: at(to) };
  if (to - from > documentBytesMax) {
    return isFinal ? [{ kind: 'refused', reason: 'too-long', sha256: null, ...whole }] : [];
  }
  const bytes = new Uint8Array(to);
  if (!readFully(source, bytes.subarray(from), from)) return [];
  const span = from === 0 ? documentSpan(bytes) : { start: to, end: to };
  if ('reason' in span) {
    if (!isFinal) return [];
    return [{ kind: 'refused', reason: span.reason, sha256: sha256Hex(bytes), ...whole }];
  }
  return withFraming(recordsIn(bytes, span, shape), from, to);
}

/** Where the one object of a document stands. */
function documentSpan(bytes: Uint8Array): Span | { readonly reason: RefusalReason } {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  tokenizer.reset(bytes, hasMark ? 3 : 0, bytes.length);
  if (tokenizer.next() !== 'object-start') return { reason: 'not-a-record' };
  const { start } = tokenizer;
  if (!tokenizer.skipContainer()) {
    return { reason: isCut(bytes.subarray(tokenizer.start)) ? 'torn-tail' : 'bad-json' };
  }
  const span = { start, end: tokenizer.end };
  if (tokenizer.deepest > limits.readerNestingLevelsMax) return { reason: 'too-deep' };
  return tokenizer.next() === 'end' ? span : { reason: 'bad-json' };
}

/** Whether what could not be read at the end of a document is the beginning of a string, word or number. */
function isCut(rest: Uint8Array): boolean {
  return rest.length < wordBytesMax || (rest[0] === quote && !rest.includes(lineFeed));
}

function recordsIn(bytes: Uint8Array, document: Span, shape: DocumentShape): readonly SourcePiece[] {
  const { lists, records } = shape;
  if (records === 'whole') return [pieceOf(bytes, document, '')];
  return [...memberSpans(bytes, document)].flatMap(([name, span]) => {
    const isList = lists.includes(name) && bytes[span.start] === openBracket;
    const spans = isList ? elementSpans(bytes, span) : [span];
    return spans.map((each) => pieceOf(bytes, each, name));
  });
}

function pieceOf(bytes: Uint8Array, span: Span, name: string): SourcePiece {
  const place = { start: at(span.start), end: at(span.end) };
  if (bytes[span.start] !== openBrace) return { kind: 'kept', what: name, ...place };
  return { kind: 'object', object: new SourceObject(bytes, span, noLine, span.start), ...place };
}

/** Brackets, names and blanks between the pieces. */
function withFraming(pieces: readonly SourcePiece[], from: number, to: number): readonly SourcePiece[] {
  const all: SourcePiece[] = [];
  let end = from;
  const fill = (start: number): void => {
    if (start > end) all.push({ kind: 'framing', start: at(end), end: at(start) });
  };
  for (const piece of [...pieces].sort((a, b) => a.start.offset - b.start.offset)) {
    fill(piece.start.offset);
    all.push(piece);
    end = piece.end.offset;
  }
  fill(to);
  return all;
}

function at(offset: number): SourcePosition {
  return { offset, line: 1 };
}
