import { resolve } from 'node:path';
import { type McpOptions, serveMcp, toolDefinitions } from '@turnlog/mcp';
import { mirrorEngine } from '@turnlog/mirror';
import { type Redactor, redactionFacts } from '@turnlog/store';
import type { Context } from '../command.js';
import { asTurnlogError, envelopeOf } from '../error-envelope.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import * as flags from '../flags.js';
import { chunksUntil } from '../input.js';
import { jsonVersion } from '../output/json.js';
import type { Output } from '../output/output.js';
import { version } from '../version.js';

/** Serves the store to an agent over stdin and stdout; with --json, says what it would serve. */
export async function mcp(context: Context): Promise<number> {
  const { output } = context;
  const egress = redactorOf(output);
  if (output.form === 'text') await serveMcp(await optionsFor(context, egress));
  else await printDefinitions(output);
  return exits.done;
}

function redactorOf({ egress }: Output): Redactor {
  if (egress.type === 'redactor') return egress;
  throw badFlag('--no-redact does not go with mcp: who asks there hands on what it gets', {
    flag: flags.noRedactFlag.name,
  });
}

async function optionsFor(context: Context, egress: Redactor): Promise<McpOptions> {
  const { cwd, io, output, settings, stop } = context;
  const store = await context.openStore();
  return {
    store,
    egress,
    zone: settings.zone,
    version,
    engines: [mirrorEngine(store)],
    resolvePath: (path) => resolve(cwd, path),
    head: { schema_version: jsonVersion, ...redactionFacts(egress) },
    tellError: (error) => envelopeOf(asTurnlogError(error), egress),
    streams: {
      input: (until) => chunksUntil(io.stdin, AbortSignal.any([stop, until])),
      output: io.stdout,
    },
    // Nobody waits for it, and whether somebody reads stderr must not decide what becomes of the answers.
    onError: ({ message }) =>
      void output.warn(output.shown`a message was passed over: ${message}`).catch(() => undefined),
  };
}

async function printDefinitions(output: Output): Promise<void> {
  const tools = toolDefinitions();
  if (output.form === 'json') await output.document({ tools });
  else {
    for (const tool of tools) await output.row({ ...tool });
    await output.summary({ tools: tools.length });
  }
}
