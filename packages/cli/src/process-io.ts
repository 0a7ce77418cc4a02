import { TurnlogError } from '@turnlog/kernel';
import { agentRunner } from './agent-runner.js';
import { gitRunner } from './git.js';
import type { Io, Sink, StopSignal } from './io.js';

/** Paths of the programs that run beside this one. */
export interface Helpers {
  /** What code under test runs in. */
  readonly replayChild: string;
  /** This program. */
  readonly bin: string;
  /** The thread that hashes. */
  readonly hashWorker: string;
}

/** The process as commands see it. */
export function processIo({ replayChild, bin, hashWorker }: Helpers): Io {
  const { stdin, stdout, stderr, env } = process;
  return {
    stdin,
    stdout: sinkOf(stdout, 'stdout'),
    stderr: sinkOf(stderr, 'stderr'),
    env,
    cwd: process.cwd(),
    isTty: { stdin: stdin.isTTY === true, stdout: stdout.isTTY === true, stderr: stderr.isTTY === true },
    columns: stdout.isTTY === true ? stdout.columns : null,
    runAgent: agentRunner(replayChild),
    runGit: gitRunner(env),
    self: [process.execPath, bin],
    hashWorkers: { module: hashWorker },
    onStop,
  };
}

function sinkOf(stream: NodeJS.WriteStream, path: string): Sink {
  // Without a listener an error of the stream would end the process; each write hears of it by itself.
  stream.on('error', () => undefined);
  return {
    write: (chunk) =>
      new Promise((resolve, reject) => {
        stream.write(chunk, (cause) => {
          if (cause === null || cause === undefined) resolve();
          else reject(writeError(path, cause));
        });
      }),
  };
}

function writeError(path: string, cause: Error): TurnlogError {
  const errno = 'code' in cause && typeof cause.code === 'string' ? cause.code : null;
  // A stream that failed before says only that it is destroyed.
  const details = { operation: 'write', path, errno: errno === 'ERR_STREAM_DESTROYED' ? 'EPIPE' : errno };
  return new TurnlogError('TURNLOG_IO', { details, cause, message: `cannot write to ${path}` });
}

/** The first signal asks; a second one of the same kind ends the process as if nobody listened. */
function onStop(listener: (signal: StopSignal) => void): () => void {
  const signals: readonly StopSignal[] = ['SIGINT', 'SIGTERM'];
  for (const signal of signals) process.once(signal, listener);
  return () => {
    for (const signal of signals) process.removeListener(signal, listener);
  };
}
