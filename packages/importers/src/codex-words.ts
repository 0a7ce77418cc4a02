import { imagePart } from './codex-calls.js';
import { type CodexRecord, codexRecord, contentTexts } from './codex-record.js';
import type { CodexState } from './codex-state.js';
import type { CodexTurns } from './codex-turns.js';
import type { CodexVoice } from './codex-voice.js';
import { isMembers, textMember } from './source-object.js';
import type { Lookahead, ThreadMapping } from './thread-format.js';

/** A record that repeats the user's words stands no farther from the event that has them. */
const echoRecordsMax = 8;

/** What the harness says under the user's role begins so; no event repeats it. */
const harnessHeads: readonly string[] = [
  '<environment_context>',
  '<user_instructions>',
  '# AGENTS.md instructions',
  '<turn_aborted>',
  '<subagent_notification>',
  '<INSTRUCTIONS>',
  '<skill>',
];

/** Words under the user's role: the user's own, and what a harness says in their place. */
export class CodexWords {
  readonly #state: CodexState;
  readonly #turns: CodexTurns;

  constructor(state: CodexState, turns: CodexTurns) {
    this.#state = state;
    this.#turns = turns;
  }

  /** `event_msg/user_message`: what the user said. */
  spoken(record: CodexRecord, voice: CodexVoice): ThreadMapping {
    const content = [
      { type: 'text', text: textMember(record.payload, 'message') ?? '' },
      ...imagesOf(record, voice),
    ];
    this.#speak(content, record, voice);
    return { place: 'mapped', kind: record.kind };
  }

  /** `response_item/message` of the user: repeats an event, or is the harness's. */
  listed(record: CodexRecord, ahead: Lookahead, voice: CodexVoice): ThreadMapping | 'wait' {
    const { kind } = record;
    const text = contentTexts(record.payload['content']).join('\n');
    const isHarness = harnessHeads.some((head) => text.trimStart().startsWith(head));
    const isEcho = isHarness ? false : this.#isEcho(record, text, ahead);
    if (isEcho === 'wait') return 'wait';
    if (isEcho) return { place: 'echo', kind };
    const content = partsOf(record, voice);
    if (this.#state.isOld && !isHarness) {
      this.#speak(content, record, voice);
      return { place: 'mapped', kind };
    }
    this.#state.messageCount += 1;
    const origin = text.startsWith('<subagent_notification>') ? 'notification' : 'injected';
    voice.say({ type: 'user.message', id: wordsId(voice), origin, content });
    return { place: 'mapped', kind };
  }

  /** What a spawned agent is told of being one. */
  notice(text: string, voice: CodexVoice): void {
    const content = [{ type: 'text', text }];
    voice.say({ type: 'user.message', id: wordsId(voice), origin: 'injected', content });
  }

  #speak(content: readonly object[], record: CodexRecord, voice: CodexVoice): void {
    this.#state.messageCount += 1;
    const message = { type: 'user.message', id: wordsId(voice) };
    const origin = this.#state.isSubagent ? 'subagent_prompt' : 'prompt';
    const { present } = this.#turns;
    const isOpener = present === null || present.by !== 'task';
    if (isOpener) this.#turns.open('words', {}, voice);
    if (isOpener || present?.hasPrompt === false) {
      voice.emit({ ...message, origin, content });
      voice.release();
      const turn = this.#turns.present;
      if (turn !== null) turn.hasPrompt = true;
      return;
    }
    if (!this.#state.isSubagent) {
      const text = textMember(record.payload, 'message') ?? '';
      const image_count = content.length - 1;
      voice.tell({ type: 'interjected', text, source: 'direct', image_count, redirect_kind: 'interjection' });
    }
    voice.tell({ ...message, origin: this.#state.isSubagent ? origin : 'queued', content });
  }

  #isEcho(record: CodexRecord, text: string, ahead: Lookahead): boolean | 'wait' {
    if (this.#state.isOld) return false;
    const texts = contentTexts(record.payload['content']);
    for (let n = 1; n <= echoRecordsMax; n += 1) {
      const next = ahead.peek(n);
      if (next === 'later') return 'wait';
      if (typeof next === 'string') return false;
      const { detail, payload } = codexRecord(next);
      if (detail === 'user_message') {
        const said = textMember(payload, 'message') ?? '';
        if (said === text || texts.includes(said)) return true;
      }
      if (endsSearch.has(detail)) return false;
    }
    return false;
  }
}

/** Behind these nothing repeats what was said before. */
const endsSearch: ReadonlySet<string> = new Set([
  'message:assistant',
  'agent_message',
  'agent_reasoning',
  'reasoning',
  'function_call',
  'custom_tool_call',
  'task_started',
  'task_complete',
  'turn_aborted',
]);

function wordsId(voice: CodexVoice): string {
  return `${voice.place.sha256.slice(0, 24)}.${voice.place.line}`;
}

function imagesOf({ payload }: CodexRecord, voice: CodexVoice): readonly object[] {
  const { images, local_images: paths } = payload;
  const urls = Array.isArray(images) ? images.filter((url) => typeof url === 'string') : [];
  const local = Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : [];
  return [
    ...urls.map((url) => imagePart(url, voice) ?? { type: 'image', image_url: url }),
    ...local.map((path) => ({ type: 'local_image', path })),
  ];
}

/** The parts of a message: texts, images as assets, everything else as it stands. */
function partsOf({ object, path, payload }: CodexRecord, voice: CodexVoice): readonly object[] {
  const { content } = payload;
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const parts = object.at(...path, 'content')?.elements ?? [];
  return parts.map((part) => {
    const { value } = part;
    const text = isMembers(value) ? textMember(value, 'text') : undefined;
    if (text !== undefined) return { type: 'text', text };
    const url = isMembers(value) ? textMember(value, 'image_url') : undefined;
    const image = url === undefined ? null : imagePart(url, voice);
    if (image !== null) return image;
    return new Map(part.names.map((name) => [name, part.member(name)?.passed()]));
  });
}
