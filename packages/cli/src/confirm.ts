import { TurnlogError } from '@turnlog/kernel';
import type { Context } from './command.js';
import * as flags from './flags.js';
import { chunksUntil } from './input.js';
import type { Shown } from './output/shown.js';

/**
 * Asks before something is done that may cost somebody else. `--yes` answers; without a terminal there is nobody
 * to ask.
 *
 * @throws TURNLOG_NEEDS_YES
 */
export async function confirm({ args, io, output, stop }: Context, question: Shown): Promise<void> {
  if (args.has(flags.yesFlag)) return;
  if (io.isTty.stdin && io.isTty.stderr) {
    await output.ask(output.shown`${question} [y/N] `);
    for await (const chunk of chunksUntil(io.stdin, stop)) {
      if (/^\s*y(?:es)?\s*$/i.test(new TextDecoder().decode(chunk))) return;
      break;
    }
  }
  throw new TurnlogError('TURNLOG_NEEDS_YES', { details: { question: question.text } });
}
