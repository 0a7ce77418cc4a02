import { parseSessionId, parseSessionReference, parseTrashName } from '@turnlog/store';
import * as auditFlags from './audit-flags.js';
import { badFlag } from './flag.js';
import * as flags from './flags.js';
import { parseRangeReference } from './reference.js';
import * as replayFlags from './replay-flags.js';
import * as searchFlags from './search-flags.js';
import { settingKeys } from './settings.js';
import type { Positional, Verb } from './verb.js';

const anything = (): void => undefined;

function sessionArgument(
  name: string,
  presence: Positional['presence'],
  check: (text: string) => void,
): Positional {
  return { name, presence, choices: null, isSession: true, check };
}

function choiceArgument(
  name: string,
  choices: readonly string[],
  presence: Positional['presence'],
): Positional {
  const check = (text: string): void => {
    if (choices.includes(text)) return;
    throw badFlag(`${name} is one of ${choices.join(', ')}, not ${JSON.stringify(text)}`, { argument: text });
  };
  return { name, presence, choices, isSession: false, check };
}

function checkSeq(text: string): void {
  if (!/^[1-9]\d{0,15}$/.test(text))
    throw badFlag(`SEQ is a whole number from 1, not ${JSON.stringify(text)}`, {});
}

const sessionVerbs = ['rename', 'tag', 'archive', 'pin', 'unpin', 'delete', 'restore'] as const;

/** The name of something in the trash may be longer than an id. */
function parseSessionOrTrash(text: string): void {
  if (parseTrashName(text) === null) parseSessionReference(text);
}

const fixtureVerbs = ['make', 'check', 'show', 'trim', 'rekey'] as const;

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
const settingNames = settingKeys.map(({ name }) => name);

/** Every verb there is. What is not in it does not exist. */
export const verbs: readonly Verb[] = [
  {
    name: 'record',
    summary: 'append the events on stdin to a session, holding it until the input ends',
    positionals: [sessionArgument('ID', 'optional', parseSessionId)],
    flags: [
      flags.workspaceFlag,
      flags.durabilityFlag,
      flags.ackFlag,
      flags.redactableFlag,
      flags.maxEventsFlag,
      flags.maxBytesFlag,
      flags.archiveFlag,
      flags.parentFlag,
      flags.fromFlag,
      flags.teeFlag,
      flags.promptFlag,
      flags.promptFileFlag,
    ],
    load: async () => (await import('./commands/record.js')).record,
  },
  {
    name: 'append',
    summary: 'append one event, from --event or stdin',
    positionals: [sessionArgument('ID', 'required', parseSessionId)],
    flags: [flags.eventFlag, flags.keyFlag, flags.expectSeqFlag, flags.waitFlag],
    load: async () => (await import('./commands/append.js')).append,
  },
  {
    name: 'import',
    summary: "bring other agents' files into sessions; SOURCE is an agent or a path",
    positionals: [{ name: 'SOURCE', presence: 'repeated', choices: null, isSession: false, check: anything }],
    flags: [
      flags.sourceKindFlag,
      flags.pathFlag,
      flags.changedSinceFlag,
      flags.watchFlag,
      flags.finalFlag,
      flags.rawCopyFlag,
      flags.asNewFlag,
      flags.alsoLiveFlag,
      flags.hookFlag,
      flags.dryRunFlag,
    ],
    load: async () => (await import('./commands/import.js')).importSources,
  },
  {
    name: 'sessions',
    summary: 'list the sessions of the store',
    positionals: [],
    flags: [
      flags.workspaceFlag,
      flags.sinceFlag,
      flags.statusFlag,
      flags.sortFlag,
      flags.tagFlag,
      flags.archivedFlag,
      flags.pinnedFlag,
      flags.trashFlag,
      flags.includeHiddenFlag,
      flags.limitFlag,
      flags.cursorFlag,
    ],
    load: async () => (await import('./commands/sessions.js')).sessions,
  },
  {
    name: 'show',
    summary: 'print a session, one turn of it, or a range of its records',
    positionals: [sessionArgument('ID[:SEQ[..SEQ]]', 'required', parseRangeReference)],
    flags: [
      flags.turnFlag,
      flags.rawFlag,
      flags.forceFlag,
      flags.fullFlag,
      flags.formatFlag,
      flags.roleFlag,
      flags.kindFlag,
      flags.sinceFlag,
      flags.untilFlag,
      flags.orderFlag,
      flags.limitFlag,
    ],
    load: async () => (await import('./commands/show.js')).show,
  },
  {
    name: 'tail',
    summary: 'print the last records of a session, and wait for more with -f',
    positionals: [sessionArgument('ID', 'required', parseSessionReference)],
    flags: [flags.countOfRecordsFlag, flags.followFlag, flags.rawFlag, flags.forceFlag],
    load: async () => (await import('./commands/tail.js')).tail,
  },
  {
    name: 'search',
    summary: 'find what was said and done in all sessions',
    positionals: [{ name: 'QUERY', presence: 'required', choices: null, isSession: false, check: anything }],
    flags: [
      searchFlags.queryFlag,
      searchFlags.syntaxFlag,
      searchFlags.searchSessionFlag,
      searchFlags.searchRoleFlag,
      searchFlags.searchKindFlag,
      searchFlags.toolFlag,
      searchFlags.searchPathFlag,
      searchFlags.searchWorkspaceFlag,
      searchFlags.agentFlag,
      searchFlags.searchSinceFlag,
      searchFlags.searchUntilFlag,
      searchFlags.explainScoreFlag,
      searchFlags.asOfFlag,
      searchFlags.modeFlag,
      searchFlags.minScoreFlag,
      searchFlags.engineFlag,
      searchFlags.groupFlag,
      searchFlags.facetsFlag,
      searchFlags.searchHiddenFlag,
      searchFlags.searchWaitFlag,
      searchFlags.budgetFlag,
      searchFlags.searchLimitFlag,
      flags.cursorFlag,
    ],
    load: async () => (await import('./commands/search.js')).search,
  },
  {
    name: 'blame',
    summary: 'say which records touched a path, or which one wrote a line of it',
    positionals: [
      { name: 'PATH[:LINE]', presence: 'required', choices: null, isSession: false, check: anything },
    ],
    flags: [
      searchFlags.readsFlag,
      searchFlags.mentionsFlag,
      searchFlags.followRenamesFlag,
      searchFlags.proveFlag,
      flags.limitFlag,
      flags.cursorFlag,
    ],
    load: async () => (await import('./commands/blame.js')).blame,
  },
  {
    name: 'stats',
    summary: 'counts, usage and cost, by workspace unless said otherwise',
    positionals: [],
    flags: [
      flags.byFlag,
      flags.workspaceFlag,
      flags.sinceFlag,
      flags.untilFlag,
      flags.rollupFlag,
      flags.pricesFlag,
      flags.limitFlag,
      flags.cursorFlag,
    ],
    load: async () => (await import('./commands/stats.js')).stats,
  },
  {
    name: 'export',
    summary: 'make documents of sessions',
    positionals: [
      sessionArgument('ID', 'required', parseSessionReference),
      sessionArgument('ID', 'repeated', parseSessionReference),
    ],
    flags: [
      flags.exportFormatFlag,
      flags.outFlag,
      flags.condensedFlag,
      flags.contentFlag,
      flags.assetsFlag,
      flags.withDamageFlag,
      flags.rawExportFlag,
      flags.forceFlag,
    ],
    load: async () => (await import('./commands/export.js')).exportSessions,
  },
  {
    name: 'rebuild',
    summary: 'derive manifests, indexes, views, search and mirror again, or compare them with --check',
    positionals: [sessionArgument('ID', 'repeated', parseSessionReference)],
    flags: [flags.checkFlag, flags.onlyFlag],
    load: async () => (await import('./commands/rebuild.js')).rebuild,
  },
  {
    name: 'gc',
    summary: 'plan what leaves the store by number and age, and what leaves the trash; do it with --apply',
    positionals: [],
    flags: [
      flags.maxSessionsFlag,
      flags.maxAgeFlag,
      flags.keepFlag,
      flags.trashDaysFlag,
      flags.purgeTrashFlag,
      flags.applyFlag,
      flags.dryRunFlag,
      flags.yesFlag,
    ],
    load: async () => (await import('./commands/gc.js')).gc,
  },
  {
    name: 'session',
    summary:
      'rename ID TITLE, tag ID TAG…, archive ID; pin ID --reason R, unpin ID; delete ID into the trash, restore TRASH',
    positionals: [
      choiceArgument(sessionVerbs.join('|'), sessionVerbs, 'required'),
      sessionArgument('ID', 'required', parseSessionOrTrash),
      { name: 'TITLE|TAG', presence: 'repeated', choices: null, isSession: false, check: anything },
    ],
    flags: [flags.removeFlag, flags.undoFlag, flags.reasonFlag, flags.dryRunFlag, flags.yesFlag],
    load: async () => (await import('./commands/session.js')).session,
  },
  {
    name: 'doctor',
    summary: 'look at everything in the store, and repair it with --fix',
    positionals: [],
    flags: [
      flags.deepFlag,
      flags.sessionFlag,
      flags.fixFlag,
      flags.forceUnlockFlag,
      flags.dryRunFlag,
      flags.yesFlag,
    ],
    load: async () => (await import('./commands/doctor.js')).doctor,
  },
  {
    name: 'pack',
    summary: 'make the audit pack of a session: every file, and the hash tree of its records',
    positionals: [sessionArgument('ID', 'optional', parseSessionReference)],
    flags: [
      auditFlags.packDirectoryFlag,
      auditFlags.deepPackFlag,
      auditFlags.storePackFlag,
      auditFlags.withAssetsFlag,
      auditFlags.bundleFlag,
      auditFlags.signingKeyFlag,
      auditFlags.sshAgentFlag,
      auditFlags.originFlag,
      auditFlags.noRecordFlag,
    ],
    load: async () => (await import('./commands/pack.js')).pack,
  },
  {
    name: 'verify',
    summary: 'compare a session with its pack, the store without ID, or check a proof',
    positionals: [sessionArgument('ID', 'optional', parseSessionReference)],
    flags: [
      auditFlags.copyDirectoryFlag,
      auditFlags.exactFlag,
      auditFlags.withAssetsFlag,
      auditFlags.trustFlag,
      auditFlags.requirePackFlag,
      auditFlags.requireSignatureFlag,
      auditFlags.proofFlag,
      auditFlags.proofRecordFlag,
    ],
    load: async () => (await import('./commands/verify.js')).verify,
  },
  {
    name: 'prove',
    summary: 'print the proof that a record is in a log, or that one pack goes on from another',
    positionals: [
      sessionArgument('ID', 'optional', parseSessionReference),
      { name: 'SEQ', presence: 'optional', choices: null, isSession: false, check: checkSeq },
    ],
    flags: [auditFlags.fromPackFlag, auditFlags.toPackFlag],
    load: async () => (await import('./commands/prove.js')).prove,
  },
  {
    name: 'redact',
    summary:
      'replace records by their hashes, for good; with --scan, list what may have to go; ID alone finishes what was begun',
    positionals: [
      sessionArgument('ID', 'optional', parseSessionId),
      { name: 'SEQ', presence: 'repeated', choices: null, isSession: false, check: checkSeq },
    ],
    flags: [
      auditFlags.redactionReasonFlag,
      auditFlags.acceptGuessableFlag,
      auditFlags.scanFlag,
      auditFlags.applyRedactionFlag,
      flags.dryRunFlag,
      flags.yesFlag,
    ],
    load: async () => (await import('./commands/redact.js')).redact,
  },
  {
    name: 'mcp',
    summary: 'serve the store to an agent, as an MCP server on stdin and stdout',
    positionals: [],
    flags: [searchFlags.httpFlag],
    load: async () => (await import('./commands/mcp.js')).mcp,
  },
  {
    name: 'fixture',
    summary: 'make ID: a fixture of a session; check, show, trim --turns A..B, rekey DIR: one that is there',
    positionals: [
      choiceArgument(fixtureVerbs.join('|'), fixtureVerbs, 'required'),
      { name: 'ID|DIR', presence: 'required', choices: null, isSession: false, check: anything },
    ],
    flags: [
      replayFlags.turnsFlag,
      replayFlags.fixtureDirectoryFlag,
      replayFlags.fixtureNameFlag,
      replayFlags.strictFixtureFlag,
      flags.forceFlag,
    ],
    load: async () => (await import('./commands/fixture.js')).fixture,
  },
  {
    name: 'replay',
    summary:
      'run the code in --module FILE against a fixture, without network, and say where it does something else; bisect: and since which commit',
    variants: ['bisect'],
    positionals: [{ name: 'DIR', presence: 'required', choices: null, isSession: false, check: anything }],
    flags: [
      replayFlags.moduleFlag,
      replayFlags.exportNameFlag,
      replayFlags.untilSeqFlag,
      replayFlags.matchFlag,
      replayFlags.numericFlag,
      replayFlags.shrinkFlag,
      replayFlags.goodRevisionFlag,
      replayFlags.badRevisionFlag,
    ],
    load: async () => (await import('./commands/replay.js')).replay,
  },
  {
    name: 'completion',
    summary: 'print the completion script of a shell',
    positionals: [choiceArgument('SHELL', shells, 'required')],
    flags: [],
    load: async () => (await import('./commands/completion.js')).completion,
  },
  {
    name: 'config',
    summary: 'get or set configuration: config get [KEY], config set KEY VALUE',
    positionals: [
      choiceArgument('get|set', ['get', 'set'], 'required'),
      choiceArgument('KEY', settingNames, 'optional'),
      { name: 'VALUE', presence: 'optional', choices: null, isSession: false, check: anything },
    ],
    flags: [flags.explainFlag],
    load: async () => (await import('./commands/config.js')).config,
  },
  {
    name: 'capabilities',
    summary: 'say what this program can do, for agents',
    positionals: [],
    flags: [],
    load: async () => (await import('./commands/capabilities.js')).capabilities,
  },
];
