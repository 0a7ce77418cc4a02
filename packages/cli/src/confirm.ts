import { TurnlogError } from '@turnlog/kernel';
import type { Context } from './command.js';
import * as flags from './flags.js';
import { chunksUntil } from './input.js';
import { type Shown, shown } from './output/shown.js';

/**
 * Asks before something is done that may cost somebody else. `--yes` answers; without a terminal there is nobody
 * to ask.
 *
 * @throws TURNLOG_NEEDS_YES
 */
export async function confirm({ args, io, stop }: Context, question: Shown): Promise<void> {
  if (args.has(flags.yesFlag)) return;
  if (io.isTty.stdin && io.isTty.stderr) {
    await io.stderr.write(shown`${question} [y/N] `.text);
    for await (const chunk of chunksUntil(io.stdin, stop)) {
      if (/^\s*y(?:es)?\s*$/i.test(new TextDecoder().decode(chunk))) return;
      break;
    }
  }
  throw new TurnlogError('TURNLOG_NEEDS_YES', { details: { question: question.text } });
}
