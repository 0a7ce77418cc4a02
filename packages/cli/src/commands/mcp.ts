import { resolve } from 'node:path';
import { limits, TurnlogError } from '@turnlog/kernel';
import { type McpService, serveMcp, serveMcpHttp, toolDefinitions } from '@turnlog/mcp';
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
import * as searchFlags from '../search-flags.js';
import { version } from '../version.js';

/** Serves the store to an agent over stdin and stdout, or over HTTP; with --json, says what it would serve. */
export async function mcp(context: Context): Promise<number> {
  const { args, output } = context;
  const egress = redactorOf(output);
  const port = args.get(searchFlags.httpFlag);
  if (output.form !== 'text') await printDefinitions(output);
  else if (port !== undefined) await serveOverHttp(context, egress, port);
  else {
    const { io, stop } = context;
    const input = (until: AbortSignal) => chunksUntil(io.stdin, AbortSignal.any([stop, until]));
    await serveMcp({ ...(await serviceFor(context, egress)), streams: { input, output: io.stdout } });
  }
  return exits.done;
}

const portMax = 65_535;

async function serveOverHttp(context: Context, egress: Redactor, port: number): Promise<void> {
  const { output, stop } = context;
  if (port > portMax)
    throw badFlag(`a port is at most ${portMax}`, { flag: searchFlags.httpFlag.name, value: port });
  const service = await serviceFor(context, egress);
  const given = context.io.env[tokenVariable] ?? '';
  const token = given === '' ? service.store.environment.ids.randomHex(32) : checkedToken(given);
  await serveMcpHttp({
    ...service,
    port,
    token,
    stop,
    onListening: async (url) => {
      await output.note(output.shown`serving on ${url}`);
      // Said once, and kept nowhere: whoever starts the server hands it to the clients.
      if (given === '') await output.tell(output.shown`token ${token}`);
    },
  });
}

/** Holds the token of the HTTP server; never a flag, which others on this machine could read. */
const tokenVariable = 'TURNLOG_MCP_TOKEN';

function checkedToken(token: string): string {
  const isFit = token.length >= limits.mcpTokenCharactersMin && /^[\x21-\x7e]+$/.test(token);
  if (isFit) return token;
  throw new TurnlogError('TURNLOG_BAD_CONFIG', {
    details: { variable: tokenVariable },
    message: `${tokenVariable} holds ${limits.mcpTokenCharactersMin} or more letters, digits and signs`,
  });
}

function redactorOf({ egress }: Output): Redactor {
  if (egress.type === 'redactor') return egress;
  throw badFlag('--no-redact does not go with mcp: who asks there hands on what it gets', {
    flag: flags.noRedactFlag.name,
  });
}

async function serviceFor(context: Context, egress: Redactor): Promise<McpService> {
  const { cwd, output, settings } = context;
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
