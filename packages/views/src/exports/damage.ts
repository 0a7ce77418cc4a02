/**
 * The damaged places of a log, one JSON line for each line of damage:
 *
 *     {"kind":"unreadable","line":7,"offset":812,"length":44,"base64":"eyJzY2hl…"}
 *
 * `base64` holds the bytes as they left the redactor. A place that is too long to be redacted in one piece is named,
 * with `"omitted":true` instead of its bytes; without redaction its bytes come in parts, each with its offset.
 */

import { limits } from '@turnlog/kernel';
import type { LogReader, Scanned } from '@turnlog/log';
import type { Egress } from '@turnlog/store';

export function* damageLines(reader: LogReader, egress: Egress): Iterable<string> {
  for (const piece of reader.pieces()) {
    if (piece.verdict === 'damage') yield* linesOf(reader, piece, egress);
  }
}

function* linesOf(reader: LogReader, piece: Scanned, egress: Egress): Iterable<string> {
  if (piece.verdict !== 'damage') return;
  const { kind, line, offset, length } = piece;
  if (length > limits.exportedDamageBytesMax && egress.type === 'redactor') {
    yield `${JSON.stringify({ kind, line, offset, length, omitted: true })}\n`;
    return;
  }
  let at = offset;
  do {
    const end = Math.min(offset + length, at + limits.exportedDamageBytesMax);
    const bytes = Buffer.concat([...reader.bytes(at, end)].map((block) => block.slice()));
    const base64 = Buffer.from(egress.jsonBytes(bytes).bytes).toString('base64');
    yield `${JSON.stringify({ kind, line, offset: at, length: end - at, base64 })}\n`;
    at = end;
  } while (at < offset + length);
}
