import type { UsageCounts } from '@turnlog/events';
import type { TurnEnd } from './session-entries.js';

/** Where a block comes from. */
export interface BlockPlace {
  readonly seq: number;
  /** Null when the time is unknown. */
  readonly ts: string | null;
}

/** An asset that a message or an output names. */
export interface ShownAsset {
  readonly sha256: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: string;
}

export type Voice = 'user' | 'agent' | 'context' | 'reasoning' | 'plan';

/** A text of a call: its arguments, what came out, a diff. */
export interface Pane {
  readonly label: string;
  /** Of the fence: `json`, `diff`, or none. */
  readonly language: string;
  readonly text: string;
}

export interface TurnBlock extends BlockPlace {
  readonly kind: 'turn';
  readonly turn: number;
  readonly status: TurnEnd;
  readonly usage: UsageCounts | null;
  readonly goal: string | null;
}

export interface SpeechBlock extends BlockPlace {
  readonly kind: 'speech';
  readonly voice: Voice;
  readonly label: string;
  readonly text: string;
  readonly assets: readonly ShownAsset[];
}

export interface DecisionBlock extends BlockPlace {
  readonly kind: 'decision';
  readonly summary: string;
  readonly rationale: string;
  readonly alternatives: readonly string[];
}

export interface CallBlock extends BlockPlace {
  readonly kind: 'call';
  readonly tool: string;
  readonly gist: string;
  /** How it ended, as a word. */
  readonly outcome: string;
  readonly tone: 'good' | 'bad' | 'open';
  readonly panes: readonly Pane[];
  readonly assets: readonly ShownAsset[];
}

export interface FilesBlock extends BlockPlace {
  readonly kind: 'files';
  readonly changes: readonly { readonly path: string; readonly change: string }[];
  readonly outcome: string;
  readonly tone: 'good' | 'bad' | 'open';
  readonly counts: string;
  readonly diff: string | null;
}

export interface NoteBlock extends BlockPlace {
  readonly kind: 'note';
  readonly tone: 'plain' | 'bad';
  readonly label: string;
  readonly text: string;
  readonly panes: readonly Pane[];
}

/** One thing that a person reads. md and html show the same blocks. */
export type Block = TurnBlock | SpeechBlock | DecisionBlock | CallBlock | FilesBlock | NoteBlock;

/** Whether a condensed document keeps it: messages, decisions, files, failures. */
export function isInCondensed(block: Block): boolean {
  switch (block.kind) {
    case 'turn':
    case 'decision':
    case 'files':
      return true;
    case 'speech':
      return block.voice === 'user' || block.voice === 'agent';
    case 'call':
      return block.tone === 'bad';
    case 'note':
      return block.tone === 'bad';
  }
}
