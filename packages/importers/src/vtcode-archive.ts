import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';
import { sourceTimeMs } from './source-time.js';
import type { SourcePlace, ThreadFormat, ThreadIdentity, ThreadSurvey } from './thread-format.js';
import { type MessageShape, VtcodeMessagesMapper } from './vtcode-messages.js';

const archiveHead = /^(?:\xef\xbb\xbf)?\s*\{\s*"metadata"\s*:\s*\{[^{}]*"workspace_path"/;

/** Archives of VT Code's sessions: `session-*.json`, one document that is written anew each time. */
export const vtcodeArchive: ThreadFormat = {
  name: 'vtcode-archive',
  mapping: '1',
  prefix: 'vtcode',
  hasLogs: true,
  rivals: ['vtcode-history'],
  document: { records: 'parts', head: archiveHead, lists: ['messages', 'transcript'] },
  recognises: ({ metadata, messages }) =>
    isMembers(metadata) && typeof metadata['workspace_path'] === 'string' && Array.isArray(messages),
  survey: (place) => new ArchiveSurvey(place),
  recordId: () => undefined,
  recordTime: () => undefined,
  sharing: 'on-demand',
  sharedIdentity: () => undefined,
  mapper: (context, state) => new VtcodeMessagesMapper(context, state, shape),
};

const shape: MessageShape = {
  kindOf: (value) => {
    if (typeof value['workspace_path'] === 'string') return ['header', 'metadata'];
    const role = textMember(value, 'role');
    if (role !== undefined) return ['message', `message/${role}`];
    return typeof value['turn_number'] === 'number' ? ['known', 'progress'] : ['unknown', 'object'];
  },
  headerOf: (value) => value,
};

/** The file's name is the id, as the native log of the same session has it. */
class ArchiveSurvey implements ThreadSurvey {
  readonly #name: string;
  #document: SourceObject | null = null;

  constructor({ name }: SourcePlace) {
    this.#name = name.replace(/\.json$/, '');
  }

  note(object: SourceObject): boolean {
    this.#document = object;
    return true;
  }

  identity(): ThreadIdentity {
    // While it is being written it has nothing but its name.
    const { metadata, started_at: startedAt } = this.#document?.value ?? {};
    const members: Members = isMembers(metadata) ? metadata : {};
    const alias = textMember(members, 'external_thread_id');
    const parent = textMember(members, 'parent_session_id');
    return {
      threadId: this.#name,
      derived: ['thread_id'],
      aliases: alias === undefined || alias === this.#name ? [] : [alias],
      after: parent === undefined ? [] : [parent],
      startedMs: sourceTimeMs(startedAt),
    };
  }
}
