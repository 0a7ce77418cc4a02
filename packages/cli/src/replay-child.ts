import { isTurnlogError } from '@turnlog/kernel';
import { type AgentRequest, networkExit, runAgent, watchNetwork } from '@turnlog/replay';
import type { ChildMessage } from './agent-runner.js';

/** The process that code under test runs in: it is given one request, says how that ended, and goes. */

watchNetwork(() => process.exit(networkExit));

const request: AgentRequest = JSON.parse(process.argv[2] ?? '');

function tell(message: ChildMessage): void {
  process.send?.(message, () => process.exit(0));
}

try {
  tell({ outcome: await runAgent(request) });
} catch (error) {
  if (!isTurnlogError(error)) throw error;
  const { code, message, details } = error;
  tell({ failure: { code, message, details } });
}
