import type { FileSystem } from '@turnlog/kernel';
import { type LogReader, openLogReader } from '@turnlog/log';
import { createTestMachine, ModelFileSystem, type TestMachine } from '@turnlog/testkit';
import type { ImportTarget } from '../src/index.js';

const encoder = new TextEncoder();

/** A line as VT Code writes it: neither number nor time. */
export function vtLine(event: object, version = '0.18.0'): string {
  return `${JSON.stringify({ schema_version: version, event })}\n`;
}

const usage = { input_tokens: 1, cached_input_tokens: 0, output_tokens: 2 };

export const threadLine: string = vtLine({ type: 'thread.started', thread_id: 'vt-1' });

/** A turn with one message, three lines. */
export function turnLines(text: string): string {
  return (
    vtLine({ type: 'turn.started' }) +
    vtLine({ type: 'item.completed', item: { id: `m-${text}`, type: 'agent_message', text } }) +
    vtLine({ type: 'turn.completed', usage })
  );
}

export function bytesOf(...texts: readonly string[]): Uint8Array {
  return encoder.encode(texts.join(''));
}

export const sourceDirectory = '/foreign/vt-1';
export const sessionsDirectory = '/store/sessions';

export interface Desk {
  readonly fs: ModelFileSystem;
  readonly machine: TestMachine;
  readonly target: ImportTarget;
}

/** A machine in memory with an empty store and an empty session directory of VT Code. */
export function makeDesk(): Desk {
  const fs = new ModelFileSystem();
  for (const path of ['/foreign', sourceDirectory, '/store', sessionsDirectory])
    fs.plantDirectory(path, { mode: 0o700 });
  const machine = createTestMachine({ fs });
  return { fs, machine, target: { environment: machine, sessionsDirectory } };
}

export function plantSource(
  desk: Desk,
  bytes: Uint8Array,
  others: Readonly<Record<string, object>> = {},
): void {
  desk.fs.plantFile(`${sourceDirectory}/events.jsonl`, bytes);
  for (const [name, value] of Object.entries(others)) {
    if (name.startsWith('index/') && desk.fs.status(`${sourceDirectory}/index`) === null) {
      desk.fs.plantDirectory(`${sourceDirectory}/index`);
    }
    desk.fs.plantFile(`${sourceDirectory}/${name}`, encoder.encode(JSON.stringify(value)));
  }
}

/** Every name below a directory with its bytes, as text. */
export function treeOf(
  fs: FileSystem & { contentOf(path: string): Uint8Array },
  directory: string,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name, kind } of fs.list(directory)) {
    const path = `${directory}/${name}`;
    if (kind === 'directory') Object.assign(found, { [path]: kind }, treeOf(fs, path));
    else found[path] = Buffer.from(fs.contentOf(path)).toString('latin1');
  }
  return found;
}

export function readerOf(desk: Desk, sessionId: string): LogReader {
  return openLogReader(desk.fs, `${sessionsDirectory}/${sessionId}`, sessionId);
}

/** The stored bytes behind the first line. */
export function withoutFirstLine(desk: Desk, sessionId: string): Uint8Array {
  const reader = readerOf(desk, sessionId);
  const blocks: Uint8Array[] = [];
  for (const block of reader.bytes(0, reader.length)) blocks.push(block.slice());
  reader.close();
  const whole = Buffer.concat(blocks);
  return whole.subarray(whole.indexOf(0x0a) + 1);
}
