import { parseSessionId } from '@turnlog/store';

/** The documents that a session can be made into. */
export type ExportFormat = 'md' | 'html' | 'jsonl' | 'atif' | 'agent-trace' | 'otlp';

export const exportFormats: readonly ExportFormat[] = ['md', 'html', 'jsonl', 'atif', 'agent-trace', 'otlp'];

/** No ending is the end of another one, so two sessions, or two formats of one, never have the same name. */
const endings: Readonly<Record<ExportFormat | 'damage', string>> = {
  md: 'md',
  html: 'html',
  jsonl: 'jsonl',
  atif: 'atif.json',
  'agent-trace': 'agent-trace.ndjson',
  otlp: 'otlp.json',
  damage: 'damage.ndjson',
};

export const exportMediaTypes: Readonly<Record<ExportFormat, string>> = {
  md: 'text/markdown',
  html: 'text/html',
  jsonl: 'application/x-ndjson',
  atif: 'application/json',
  'agent-trace': 'application/vnd.agent-trace.record+json',
  otlp: 'application/json',
};

/**
 * The name of the file that a session is exported to: the whole id, as it is stored, and the ending of the format.
 * `damage` is the file that the damaged places are written to apart.
 *
 * @throws TURNLOG_INVALID_SESSION_ID
 */
export function exportFileName(id: string, format: ExportFormat | 'damage'): string {
  return `${parseSessionId(id)}.${endings[format]}`;
}
