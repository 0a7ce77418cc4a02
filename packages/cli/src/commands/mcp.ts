import { join, resolve } from 'node:path';
import type { WatchWarning } from '@turnlog/fs';
import { limits, TurnlogError } from '@turnlog/kernel';
import { type McpService, serveMcp, serveMcpHttp, toolDefinitions } from '@turnlog/mcp';
import { MirrorWatch, mirrorEngine, mirrorNames, openMirror } from '@turnlog/mirror';
import { type Redactor, redactionFacts, type Store } from '@turnlog/store';
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
  else await serveOverStreams(context, egress);
  return exits.done;
}

async function serveOverStreams(context: Context, egress: Redactor): Promise<void> {
  const { io, stop } = context;
  const service = await serviceFor(context, egress);
  const input = (until: AbortSignal) => chunksUntil(io.stdin, AbortSignal.any([stop, until]));
  await withMirrorKept(context, service.store, () =>
    serveMcp({ ...service, streams: { input, output: io.stdout } }),
  );
}

/**
 * Keeps the mirror at the end of the logs while the server runs, so that it can answer at once; where there is none,
 * none is made. A mirror that cannot be kept is no failure: searches say what they lack.
 */
async function withMirrorKept({ output }: Context, store: Store, work: () => Promise<void>): Promise<void> {
  const isThere = store.environment.fs.status(join(store.root, mirrorNames.file)) !== null;
  const opened = isThere ? await openMirror(store) : null;
  if (opened === null || opened.kind === 'off') return await work();
  const { mirror } = opened;
  const onWarning = ({ message }: WatchWarning): void => {
    // Nobody waits for it, and whether somebody reads stderr must not decide what becomes of the answers.
    void output.note(output.shown`${message}`).catch(() => undefined);
  };
  const watch = new MirrorWatch(store, mirror, { onWarning });
  try {
    await work();
  } finally {
    await watch.close();
    mirror.close();
  }
}

const portMax = 65_535;

async function serveOverHttp(context: Context, egress: Redactor, port: number): Promise<void> {
  const { output, stop } = context;
  if (port > portMax)
    throw badFlag(`a port is at most ${portMax}`, { flag: searchFlags.httpFlag.name, value: port });
  const service = await serviceFor(context, egress);
  const given = context.io.env[tokenVariable] ?? '';
  const token = given === '' ? service.store.environment.ids.randomHex(32) : checkedToken(given);
  const onListening = async (url: string): Promise<void> => {
    await output.note(output.shown`serving on ${url}`);
    // Said once, and kept nowhere: whoever starts the server hands it to the clients.
    if (given === '') await output.tell(output.shown`token ${token}`);
  };
  await withMirrorKept(context, service.store, () =>
    serveMcpHttp({ ...service, port, token, stop, onListening }),
  );
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
