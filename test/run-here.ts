import type { LogEnvironment } from '@turnlog/log';
import { run } from 'turnlog';

export interface RunHere {
  /** Variables of the program; by default none but a time zone. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** Parts of the machine it works on; by default this one. */
  readonly environment?: Partial<LogEnvironment>;
}

export interface Ended {
  readonly argv: readonly string[];
  readonly exit: number;
  /** Everything that was printed, to either output. */
  readonly said: string;
}

/** Runs one command line in this process. */
export async function runHere(argv: readonly string[], options: RunHere = {}): Promise<Ended> {
  const { env = {}, cwd = '/', input = '', environment } = options;
  const said: Buffer[] = [];
  const sink = { write: async (chunk: string | Uint8Array) => void said.push(Buffer.from(chunk)) };
  const exit = await run(argv, {
    stdin: (async function* () {
      if (input !== '') yield Buffer.from(input);
    })(),
    stdout: sink,
    stderr: sink,
    env: { TURNLOG_TZ: 'UTC', ...env },
    cwd,
    isTty: { stdin: false, stdout: false, stderr: false },
    columns: null,
    onStop: () => () => undefined,
    ...(environment === undefined ? {} : { environment }),
  });
  return { argv, exit, said: Buffer.concat(said).toString('utf8') };
}
