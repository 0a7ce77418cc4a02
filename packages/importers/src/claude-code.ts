import { ClaudeCodeMapper } from './claude-code-mapper.js';
import { transcriptFormat } from './claude-header.js';
import { linkIn } from './claude-state.js';
import { isTranscriptLine, TranscriptSurvey } from './claude-survey.js';
import { recordId } from './claude-text.js';
import type { ThreadFormat } from './thread-format.js';

/** Transcripts of Claude Code: `projects/<slug>/<session uuid>.jsonl`, and files of sub-agents beside or below. */
export const claudeCode: ThreadFormat = {
  ...transcriptFormat,
  prefix: 'claude',
  recognises: isTranscriptLine,
  survey: (place) => new TranscriptSurvey(place),
  recordId: ({ value }) => recordId(value),
  recordTime: ({ value }) => value['timestamp'],
  sharedIdentity: ({ value }) => recordId(value),
  sharing: 'noted',
  mapper: (context, state) => new ClaudeCodeMapper(context, state),
  callOf: linkIn,
};
