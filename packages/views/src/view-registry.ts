import type { FileSystem } from '@turnlog/kernel';
import type { LogReader } from '@turnlog/log';
import { activityView } from './activity-view.js';
import { filesView } from './files-view.js';
import { memoryView } from './memory-view.js';
import { progressView } from './progress-view.js';
import { toolsView } from './tools-view.js';
import { usageView } from './usage-view.js';
import type { View } from './view.js';
import { type RunningFold, ViewFold } from './view-fold.js';
import { openFold } from './view-runner.js';

/** A view whose state is nobody's business here. */
export interface RegisteredView {
  readonly name: string;
  readonly version: number;
  /** At the place where its published document lets it begin. */
  readonly open: (fs: FileSystem, reader: LogReader) => RunningFold;
  /** From the first record on, whatever is published. */
  readonly fromStart: (reader: LogReader) => RunningFold;
}

export function registerView<State>(view: View<State>): RegisteredView {
  return {
    name: view.name,
    version: view.version,
    open: (fs, reader) => openFold(fs, reader, view),
    fromStart: (reader) => ViewFold.fromStart(view, reader),
  };
}

/** Every view of a session, in the order in which they are published. */
export const views: readonly RegisteredView[] = [
  registerView(activityView),
  registerView(usageView),
  registerView(toolsView),
  registerView(filesView),
  registerView(progressView),
  registerView(memoryView),
];
