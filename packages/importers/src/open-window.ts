import type { ByteSource } from '@turnlog/log';
import { DocumentWindow } from './document-window.js';
import { RecordWindow, type SourcePiece, type WindowOptions } from './record-window.js';
import type { Lookahead, ThreadFormat } from './thread-format.js';

/** A source that is read piece by piece, and ahead of the present one. */
export interface PieceWindow extends Lookahead {
  /** The next piece, or null when the rest, if any, is not whole yet. */
  next(): SourcePiece | null;
}

/** Opens a source of a format: lines, or one document. */
export function openWindow(
  format: Pick<ThreadFormat, 'document'>,
  source: ByteSource,
  options: WindowOptions,
): PieceWindow {
  const { document } = format;
  return document === undefined
    ? new RecordWindow(source, options)
    : new DocumentWindow(source, options, document);
}
