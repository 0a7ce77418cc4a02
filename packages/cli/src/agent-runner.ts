import { type ChildProcess, fork } from 'node:child_process';
import { type ErrorCode, errorCodes, TurnlogError } from '@turnlog/kernel';
import { type AgentOutcome, networkExit } from '@turnlog/replay';
import type { AgentRunner } from './io.js';

/** What the child says when it is done. */
export type ChildMessage =
  | { readonly outcome: AgentOutcome }
  | {
      readonly failure: {
        readonly code: string;
        readonly message: string;
        readonly details: Readonly<Record<string, unknown>>;
      };
    };

/** Runs code under test in the program at `path`, one process for each run. */
export function agentRunner(path: string): AgentRunner {
  return async (request, onText, stop) => {
    const child = fork(path, [JSON.stringify(request)], {
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const end = (): void => void child.kill();
    stop.addEventListener('abort', end, { once: true });
    try {
      return outcomeOf(await settled(child, onText), request.module);
    } finally {
      stop.removeEventListener('abort', end);
    }
  };
}

interface Settled {
  readonly message: ChildMessage | null;
  readonly exit: number | null;
}

function settled(child: ChildProcess, onText: (text: string) => void): Promise<Settled> {
  let message: ChildMessage | null = null;
  child.stdout?.setEncoding('utf8').on('data', onText);
  child.stderr?.setEncoding('utf8').on('data', onText);
  // The channel is ours: nothing but our own program speaks on it.
  child.on('message', (told: ChildMessage) => {
    message = told;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit) => resolve({ message, exit }));
  });
}

function outcomeOf({ message, exit }: Settled, module: string): AgentOutcome {
  if (exit === networkExit) {
    throw new TurnlogError('TURNLOG_NETWORK_USED', {
      details: { module },
      message: 'the code under test opened a socket or looked up a name',
    });
  }
  if (message === null) {
    const error = {
      name: 'Unsettled',
      message: `the code under test ended before it was done (exit ${exit})`,
    };
    return { divergence: null, error, served: 0, appended: 0, collected: [] };
  }
  if ('outcome' in message) return message.outcome;
  const { code, details, message: text } = message.failure;
  throw new TurnlogError(codeOf(code), { details, message: text });
}

function codeOf(text: string): ErrorCode {
  return Object.keys(errorCodes).find((code): code is ErrorCode => code === text) ?? 'TURNLOG_INTERNAL';
}
