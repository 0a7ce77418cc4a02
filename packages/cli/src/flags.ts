import { type RecordRole, recordRoles } from '@turnlog/events';
import type { SessionId } from '@turnlog/kernel';
import { type ArchiveMode, durabilities } from '@turnlog/log';
import type { Moment } from '@turnlog/store';
import { type SessionSort, sessionSorts } from '@turnlog/store';
import {
  type ExportFormat,
  exportFormats,
  type RebuildPart,
  rebuildParts,
  type StatsDimension,
  statsDimensions,
} from '@turnlog/views';
import {
  choiceFlag,
  choicesFlag,
  countFlag,
  durationFlag,
  type Flag,
  listFlag,
  momentFlag,
  retentionAgeFlag,
  retentionCountFlag,
  sessionIdFlag,
  sessionIdsFlag,
  switchFlag,
  textFlag,
} from './flag.js';
import { type ImportKind, importKinds } from './import-kinds.js';
import { type EventKind, eventKinds } from './output/roles.js';

/** Every flag there is, each once. A verb lists those it takes; help and completion come from the same objects. */

// For every verb
export const rootFlag: Flag<string> = textFlag('root', 'DIR', 'directory of the store', 'directories');
export const directoryFlag: Flag<string> = textFlag(
  'C',
  'DIR',
  'work as if started in this directory',
  'directories',
);
export const jsonFlag: Flag<true> = switchFlag('json', 'print one JSON document');
export const jsonLinesFlag: Flag<true> = switchFlag('jsonl', 'print one JSON row per line, then a summary');
export const tzFlag: Flag<string> = textFlag('tz', 'ZONE', 'time zone of shown times, as in Europe/Berlin');
export const colorFlag: Flag<'auto' | 'always' | 'never'> = choiceFlag(
  'color',
  ['auto', 'always', 'never'],
  'whether output is coloured',
);
export const configFlag: Flag<string> = textFlag(
  'config',
  'FILE',
  "configuration in place of the user's",
  'files',
);
export const quietFlag: Flag<true> = switchFlag('q', 'no notes on stderr');
export const verboseFlag: Flag<true> = switchFlag('v', 'say more about errors');
export const noRedactFlag: Flag<true> = switchFlag(
  'no-redact',
  'show secrets too, which are taken out otherwise',
);
export const progressFlag: Flag<'json'> = choiceFlag(
  'progress',
  ['json'],
  'how far it is, as lines of JSON on stderr',
);
export const noProgressFlag: Flag<true> = switchFlag('no-progress', 'no progress bar');
export const timeoutFlag: Flag<number> = durationFlag(
  'timeout',
  'stop after so long, as Ctrl-C does, and exit 5',
);
export const helpFlag: Flag<true> = switchFlag('help', 'say what this takes');
export const versionFlag: Flag<true> = switchFlag('version', 'print the version');

export const globalFlags: readonly Flag<unknown>[] = [
  rootFlag,
  directoryFlag,
  jsonFlag,
  jsonLinesFlag,
  tzFlag,
  colorFlag,
  configFlag,
  quietFlag,
  verboseFlag,
  noRedactFlag,
  progressFlag,
  noProgressFlag,
  timeoutFlag,
  helpFlag,
  versionFlag,
];

// For several verbs
export const workspaceFlag: Flag<string> = textFlag(
  'workspace',
  'DIR',
  'workspace of the session',
  'directories',
);
export const sinceFlag: Flag<Moment> = momentFlag('since', 'from this time on: 7d, 24h, a day, or RFC 3339');
export const untilFlag: Flag<Moment> = momentFlag('until', 'before this time; a day is included');
export const limitFlag: Flag<number> = countFlag('limit', 'N', 'at most so many', 1);
export const cursorFlag: Flag<string> = textFlag(
  'cursor',
  'C',
  'go on behind a page that was cut by --limit',
);
export const rawFlag: Flag<true> = switchFlag(
  'raw',
  'print the stored bytes; refused on a terminal without --force',
);
export const forceFlag: Flag<true> = switchFlag('force', 'do it all the same');
export const dryRunFlag: Flag<true> = switchFlag('dry-run', 'say what would be done and change nothing');
export const yesFlag: Flag<true> = switchFlag('yes', 'do not ask');
export const followFlag: Flag<true> = switchFlag('f', 'wait for more');

// record, append
export const durabilityFlag: Flag<'buffered' | 'turn' | 'event'> = choiceFlag(
  'durability',
  durabilities,
  'when an event is on the disk',
);
export const redactableFlag: Flag<true> = switchFlag(
  'redactable',
  'give every record a salt from now on, so that nothing can be guessed of one that is redacted later',
);
export const maxEventsFlag: Flag<number> = countFlag(
  'max-events',
  'N',
  'keep at most so many records in the log: the oldest turns leave it; 0 is no limit',
);
export const maxBytesFlag: Flag<number> = countFlag(
  'max-bytes',
  'N',
  'keep the log within so many bytes, likewise; 0 is no limit',
);
export const archiveFlag: Flag<ArchiveMode> = choiceFlag(
  'archive',
  ['gzip', 'zstd', 'drop'],
  'what becomes of turns that leave the log; gzip unless said otherwise',
);
export const ackFlag: Flag<true> = switchFlag(
  'ack',
  'print {"seq":N} for each record as soon as it is durable',
);
export const parentFlag: Flag<string> = textFlag(
  'parent',
  'ID[:SEQ]',
  'session, and record in it, this one comes from',
);
export const fromFlag: Flag<'auto' | 'events' | 'codex-exec' | 'claude-stream'> = choiceFlag(
  'from',
  ['auto', 'events', 'codex-exec', 'claude-stream'],
  'what the input is; by default its first object decides',
);
export const teeFlag: Flag<true> = switchFlag(
  'tee',
  'pass the input on to stdout, whatever happens to the log',
);
export const promptFlag: Flag<string> = textFlag(
  'prompt',
  'TEXT',
  'what the user asked, where the input does not say',
);
export const promptFileFlag: Flag<string> = textFlag('prompt-file', 'FILE', 'the same from a file', 'files');
export const eventFlag: Flag<string> = textFlag(
  'event',
  'JSON',
  'the event; by default it is read from stdin',
);
export const keyFlag: Flag<string> = textFlag(
  'key',
  'KEY',
  'idempotency key: a retry with it is stored once',
);
export const expectSeqFlag: Flag<number> = countFlag(
  'expect-seq',
  'N',
  'append only behind this seq; 0 for an empty log',
);
export const waitFlag: Flag<number> = durationFlag('wait', 'how long to wait for another writer');

// import
export const sourceKindFlag: Flag<readonly ImportKind[]> = choicesFlag(
  'from',
  importKinds,
  'formats to look for; by default all',
);
export const rawCopyFlag: Flag<'asset' | 'reference'> = choiceFlag(
  'raw',
  ['asset', 'reference'],
  'keep the bytes of the sources as assets, or only where they are and their digests',
);
export const asNewFlag: Flag<true> = switchFlag(
  'as-new',
  'import files in conflict as sessions of their own',
);
export const alsoLiveFlag: Flag<true> = switchFlag(
  'also-live',
  'import the files of threads that were recorded as they ran, as ID.file',
);
export const watchFlag: Flag<true> = switchFlag('watch', 'go on importing what is new, until stopped');
export const changedSinceFlag: Flag<Moment> = momentFlag(
  'since',
  'only files that changed from this time on',
);
export const finalFlag: Flag<true> = switchFlag('final', 'nothing will be added to the sources any more');
export const hookFlag: Flag<'claude' | 'codex' | 'gemini'> = choiceFlag(
  'hook',
  ['claude', 'codex', 'gemini'],
  'answer a hook of this agent: what it tells on stdin, or codex in the last argument, names the file',
);
export const pathFlag: Flag<readonly string[]> = listFlag(
  'path',
  'DIR',
  'where to look, in place of the usual places',
);

// sessions
export const statusFlag: Flag<'active' | 'completed' | 'unreadable' | 'open'> = choiceFlag(
  'status',
  ['active', 'completed', 'unreadable', 'open'],
  'sessions in this state; open: inside a turn',
);
export const sortFlag: Flag<SessionSort> = choiceFlag('sort', sessionSorts, 'order of the list');
export const tagFlag: Flag<string> = textFlag('tag', 'TAG', 'sessions with this tag');
export const archivedFlag: Flag<true> = switchFlag('archived', 'archived sessions only');
export const includeHiddenFlag: Flag<true> = switchFlag(
  'include-hidden',
  'sessions as well that are archived, empty, or were run by a program or another agent',
);

export const pinnedFlag: Flag<true> = switchFlag('pinned', 'pinned sessions only, and why they are');
export const trashFlag: Flag<true> = switchFlag('trash', 'what was removed and can be restored');

// gc
export const maxSessionsFlag: Flag<number> = retentionCountFlag(
  'max-sessions',
  'N',
  'so many sessions stay, the newest ones',
);
export const maxAgeFlag: Flag<number> = retentionAgeFlag(
  'max-age',
  'remove sessions whose last event is older',
);
export const keepFlag: Flag<readonly SessionId[]> = sessionIdsFlag(
  'keep',
  'a session that stays, as your own does; may be given more than once',
);
export const trashDaysFlag: Flag<number> = retentionCountFlag(
  'trash-days',
  'N',
  'how long removed sessions can be restored',
);
export const purgeTrashFlag: Flag<true> = switchFlag('purge-trash', 'empty the trash, whatever its age');
export const applyFlag: Flag<true> = switchFlag('apply', 'do what is planned');

// show
export const turnFlag: Flag<number> = countFlag('turn', 'N', 'this turn only', 1);
export const fullFlag: Flag<true> = switchFlag('full', 'whole texts, and every record');
export const formatFlag: Flag<'text' | 'json'> = choiceFlag('format', ['text', 'json'], 'how to print');
export const roleFlag: Flag<readonly RecordRole[]> = choicesFlag('role', recordRoles, 'who speaks');
export const kindFlag: Flag<readonly EventKind[]> = choicesFlag('kind', eventKinds, 'what it is about');
export const orderFlag: Flag<'oldest' | 'newest'> = choiceFlag(
  'order',
  ['oldest', 'newest'],
  'what comes first',
);

// tail
export const countOfRecordsFlag: Flag<number> = countFlag('n', 'N', 'how many records');

// doctor
export const deepFlag: Flag<true> = switchFlag('deep', 'read every log and archive from its start');
export const sessionFlag: Flag<SessionId> = sessionIdFlag('session', 'this session only');
export const fixFlag: Flag<true> = switchFlag('fix', 'repair what can be repaired');
export const forceUnlockFlag: Flag<SessionId> = sessionIdFlag(
  'force-unlock',
  'take the lock of this session from its holder',
);

// config
export const explainFlag: Flag<true> = switchFlag('explain', 'name the source of every value');

// stats
export const byFlag: Flag<readonly StatsDimension[]> = choicesFlag(
  'by',
  statsDimensions,
  'what rows are made by',
);
export const rollupFlag: Flag<true> = switchFlag(
  'rollup',
  'count sub-agents in the sessions that started them',
);
export const pricesFlag: Flag<string> = textFlag(
  'prices',
  'FILE',
  'dollars per million tokens, for what has no recorded cost',
  'files',
);

// rebuild
export const checkFlag: Flag<true> = switchFlag('check', 'compare only, and change nothing');
/** Besides the parts of each session, what is derived from all of them together. */
export type RebuiltPart = RebuildPart | 'search' | 'mirror';
export const rebuiltParts: readonly RebuiltPart[] = [...rebuildParts, 'search', 'mirror'];
export const onlyFlag: Flag<readonly RebuiltPart[]> = choicesFlag(
  'only',
  rebuiltParts,
  'these parts only; search index and mirror are made where there are none',
);

// export
export const exportFormatFlag: Flag<ExportFormat> = choiceFlag(
  'format',
  exportFormats,
  'what kind of document; md unless said otherwise',
);
export const outFlag: Flag<string> = textFlag(
  'out',
  'FILE|DIR',
  'where to; a directory where there is more than one session',
  'files',
);
export const condensedFlag: Flag<true> = switchFlag(
  'condensed',
  'md, html: messages, decisions, files and failures only',
);
export const contentFlag: Flag<true> = switchFlag('content', 'otlp: with texts of messages and tools');
export const assetsFlag: Flag<'inline' | 'link' | 'omit'> = choiceFlag(
  'assets',
  ['inline', 'link', 'omit'],
  'md, html: pictures in the document, their digests, or nothing',
);
export const withDamageFlag: Flag<true> = switchFlag(
  'with-damage',
  'write the damaged places to a file of their own',
);
export const rawExportFlag: Flag<true> = switchFlag('raw', 'jsonl: the bytes as they are stored');

// session
export const removeFlag: Flag<true> = switchFlag('remove', 'take the tags away');
export const undoFlag: Flag<true> = switchFlag('undo', 'take it back into the list');
export const reasonFlag: Flag<string> = textFlag('reason', 'R', 'why it is pinned');
