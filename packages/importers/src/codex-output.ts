import type { CodexRecord } from './codex-record.js';
import type { RawJson } from './json-text.js';
import { isMembers, textMember } from './source-object.js';
import type { SourceValue } from './source-value.js';

/** The result of a call, as text and what is no text. */
export interface CodexOutput {
  readonly text: string;
  readonly others: readonly (RawJson | string)[];
  /** An error flag of the source; null where it has none. */
  readonly isError: boolean | null;
}

/** What a result of a command says beside its output. */
export interface CommandOutput {
  readonly output: string;
  readonly exitCode: number | null;
  /** The number under which the command goes on. */
  readonly runningId: string | null;
}

/** Reads `output`: a text, a list of parts, or an object with one of them. */
export function outputOf(record: CodexRecord): CodexOutput {
  const { output } = record.payload;
  if (typeof output === 'string') return { text: output, others: [], isError: null };
  const source = record.object.at(...record.path, 'output');
  if (source === undefined) return { text: '', others: [], isError: null };
  if (Array.isArray(output)) return { ...partsOf(source), isError: null };
  if (!isMembers(output)) return { text: source.text, others: [], isError: null };
  const isError = typeof output['success'] === 'boolean' ? !output['success'] : null;
  const text = textMember(output, 'text') ?? textMember(output, 'content');
  if (text !== undefined) return { text, others: [], isError };
  const content = source.member('content');
  if (content === undefined) return { text: source.text, others: [], isError };
  return { ...partsOf(content), isError };
}

function partsOf(list: SourceValue): {
  readonly text: string;
  readonly others: readonly (RawJson | string)[];
} {
  const texts: string[] = [];
  const others: (RawJson | string)[] = [];
  for (const part of list.elements) {
    const text = isMembers(part.value) ? textMember(part.value, 'text') : undefined;
    if (text === undefined) others.push(part.passed());
    else texts.push(text);
  }
  return { text: texts.join('\n'), others };
}

const exitForm = /^Process exited with code (-?\d+)$/m;
const runningForm = /^Process running with session ID (\d+)$/m;
const outputMark = '\nOutput:\n';
/** The lines in front of the output are few. */
const headCharacters = 16_384;

/** Takes the text of a command's result apart: lines in front of the output, or JSON with metadata. */
export function commandOutput(text: string): CommandOutput {
  const parsed = text.startsWith('{') ? jsonOutput(text) : null;
  if (parsed !== null) return parsed;
  const mark = text.indexOf(outputMark);
  const head = mark === -1 ? text.slice(0, headCharacters) : text.slice(0, mark);
  const exit = exitForm.exec(head)?.[1];
  return {
    output: mark === -1 ? text : text.slice(mark + outputMark.length),
    exitCode: exit === undefined ? null : Number(exit),
    runningId: runningForm.exec(head)?.[1] ?? null,
  };
}

function jsonOutput(text: string): CommandOutput | null {
  const value = parsedJson(text);
  if (!isMembers(value) || typeof value['output'] !== 'string') return null;
  const { metadata } = value;
  const exitCode = isMembers(metadata) ? metadata['exit_code'] : undefined;
  return {
    output: value['output'],
    exitCode: typeof exitCode === 'number' ? exitCode : null,
    runningId: null,
  };
}

/** A text as JSON; undefined when it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Fixed sentences of the producer that say how a call ended. */
export function outcomeOfText(text: string, isError: boolean | null): string {
  if (text.includes('rejected by user')) return 'permission_rejected';
  if (text.startsWith('aborted by user')) return 'cancelled';
  if (isError === true || text.startsWith('apply_patch verification failed')) return 'error';
  return 'success';
}
