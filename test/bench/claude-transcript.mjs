// A transcript as Claude Code writes it, from a seed: prompts, thinking with its signature, calls and what they
// gave, texts, and the small lines between. Lengths are about those of real ones: 2 to 5 KB a line.

import { closeSync, openSync, writeSync } from 'node:fs';
import { createRandom, createText } from './generate.mjs';

const sessionId = '7d0a3c52-91f4-4e07-8b6d-2f5c1e9a4b30';
const model = 'claude-opus-4-5-20251101';
const tools = ['Bash', 'Read', 'Edit', 'Grep'];
const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Makes the lines of turns, for as long as it is asked. */
function createTranscriptTurns(seed) {
  const random = createRandom(seed);
  const text = createText(random);
  let lastUuid = null;
  let instant = Date.UTC(2026, 0, 20, 4, 11);
  let request = 0;

  const between = (least, most) => least + Math.floor(random() * (most - least + 1));
  const hex = (length) => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
  const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
  const signaturePool = Array.from({ length: 16_384 }, () => base64[Math.floor(random() * 64)]).join('');
  const signature = () => signaturePool.slice(between(0, 8_000)).slice(0, 4 * between(100, 1_000));
  // One in thirty is longer than 20,000 characters.
  const outputLength = () => Math.min(60_000, Math.floor(400 / (1 - random()) ** 1.15));

  const timestamp = () => {
    instant += between(20, 6_000);
    return new Date(instant).toISOString();
  };

  const line = (members) => {
    const parentUuid = lastUuid;
    lastUuid = uuid();
    return {
      parentUuid,
      isSidechain: false,
      userType: 'external',
      cwd: '/home/dev/project',
      sessionId,
      version: '2.1.159',
      gitBranch: 'main',
      ...members,
      uuid: lastUuid,
      timestamp: timestamp(),
    };
  };

  const assistant = (messageId, content, usage) =>
    line({
      message: {
        model,
        id: messageId,
        type: 'message',
        role: 'assistant',
        content: [content],
        stop_reason: content.type === 'tool_use' ? 'tool_use' : null,
        stop_sequence: null,
        usage,
      },
      requestId: `req_${request}`,
      type: 'assistant',
    });

  const usageOf = () => ({
    input_tokens: between(3, 9_000),
    cache_creation_input_tokens: between(0, 9_000),
    cache_read_input_tokens: between(0, 90_000),
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: between(0, 9_000) },
    output_tokens: between(5, 4_000),
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: 'standard',
  });

  const inputOf = (name) => {
    const path = `/home/dev/project/src/${text(14).replace(/\W/g, '-')}.ts`;
    if (name === 'Bash') return { command: text(between(20, 300)), description: text(40) };
    if (name === 'Read') return { file_path: path };
    if (name === 'Grep') return { pattern: text(12), path };
    return { file_path: path, old_string: text(between(60, 1_500)), new_string: text(between(60, 1_500)) };
  };

  const resultOf = (name, input, output) => {
    if (name === 'Read') {
      return {
        type: 'text',
        file: { filePath: input.file_path, content: output, numLines: 80, startLine: 1 },
      };
    }
    if (name === 'Bash') return { stdout: output, stderr: '', interrupted: false, isImage: false };
    return { filePath: input.file_path ?? input.path, content: output };
  };

  const call = () => {
    request += 1;
    const messageId = `msg_${request}`;
    const usage = usageOf();
    const name = tools[between(0, tools.length - 1)];
    const id = `toolu_${request}`;
    const input = inputOf(name);
    const output = text(outputLength());
    const lines = [];
    if (random() < 0.6) {
      const thinking = { type: 'thinking', thinking: text(between(80, 900)), signature: signature() };
      lines.push(assistant(messageId, thinking, usage));
    }
    if (random() < 0.6) {
      lines.push(assistant(messageId, { type: 'text', text: text(between(60, 900)) }, usage));
    }
    lines.push(assistant(messageId, { type: 'tool_use', id, name, input }, usage));
    const content = [{ tool_use_id: id, type: 'tool_result', content: output, is_error: false }];
    const toolUseResult = resultOf(name, input, output);
    lines.push(line({ type: 'user', message: { role: 'user', content }, toolUseResult }));
    return lines;
  };

  const snapshot = () => ({
    type: 'file-history-snapshot',
    messageId: uuid(),
    snapshot: { messageId: uuid(), trackedFileBackups: {}, timestamp: timestamp() },
    isSnapshotUpdate: false,
  });

  return () => {
    const prompt = { role: 'user', content: text(between(40, 900)) };
    const lines = [snapshot(), line({ type: 'user', message: prompt })];
    for (let calls = between(4, 16); calls > 0; calls -= 1) lines.push(...call());
    request += 1;
    lines.push(assistant(`msg_${request}`, { type: 'text', text: text(between(200, 2_500)) }, usageOf()));
    lines.push(line({ type: 'system', subtype: 'turn_duration', durationMs: between(900, 90_000) }));
    return lines;
  };
}

/** Writes whole turns to `path` until it has so many bytes. */
export function writeTranscript(path, byteCount, seed = 20_261_130) {
  const next = createTranscriptTurns(seed);
  const file = openSync(path, 'wx');
  let bytes = 0;
  let turns = 0;
  while (bytes < byteCount) {
    const lines = next().map((value) => `${JSON.stringify(value)}\n`);
    bytes += writeSync(file, lines.join(''));
    turns += 1;
  }
  closeSync(file);
  return { bytes, turns };
}
