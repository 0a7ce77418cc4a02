import { claudeCode } from './claude-code.js';
import { codexRollout } from './codex-rollout.js';
import type { ThreadFormat } from './thread-format.js';
import { vtcodeArchive } from './vtcode-archive.js';
import { vtcodeHistory } from './vtcode-history.js';
import { vtcodeMemory } from './vtcode-memory.js';
import { vtcodeTrajectory } from './vtcode-trajectory.js';

/** The formats of files that hold threads, in the order in which they are tried. */
export const threadFormats: readonly ThreadFormat[] = [
  claudeCode,
  codexRollout,
  vtcodeArchive,
  vtcodeHistory,
  vtcodeMemory,
  vtcodeTrajectory,
];
