import type { ClaudeVoice } from './claude-voice.js';
import { isMembers, type Members, textMember } from './source-object.js';

type Change = readonly [field: string, value: string];

/** Members that most lines have, and what their change is called. */
const envelopeFields: readonly Change[] = [
  ['cwd', 'cwd'],
  ['version', 'version'],
  ['gitBranch', 'branch'],
];

/** Lines that say one thing of the session, again and again: their type, the member, the field. */
const lineFields: ReadonlyMap<string, Change> = new Map([
  ['summary', ['summary', 'title']],
  ['ai-title', ['aiTitle', 'title']],
  ['custom-title', ['customTitle', 'title']],
  ['agent-name', ['agentName', 'agent_name']],
  ['mode', ['mode', 'mode']],
  ['permission-mode', ['permissionMode', 'permission']],
  ['pr-link', ['prUrl', 'pull_request']],
  ['relocated', ['relocatedCwd', 'cwd']],
]);

/** Whether lines of a type say something of the session. */
export function isFieldLine(type: string): boolean {
  return lineFields.has(type) || type === 'worktree-state';
}

/** What is known of the session from the lines so far; only what changes is said. */
export class ClaudeFields {
  readonly #fields: Map<string, string>;

  constructor(fields: Map<string, string>) {
    this.#fields = fields;
  }

  get(field: string): string | undefined {
    return this.#fields.get(field);
  }

  /** Takes what a line says without saying that it changed: it is what the session begins with. */
  begin(value: Members): void {
    for (const [field, stated] of statedIn(value)) this.#fields.set(field, stated);
  }

  envelope(value: Members, voice: ClaudeVoice): void {
    // Nearly every line says again what is known.
    for (const [member, field] of envelopeFields) {
      const stated = textMember(value, member);
      if (stated === undefined || stated === '' || this.#fields.get(field) === stated) continue;
      this.#change([[field, stated]], voice);
    }
  }

  model(model: string | undefined, voice: ClaudeVoice): void {
    if (model !== undefined && model !== '<synthetic>') this.#change([['model', model]], voice);
  }

  /** A line that says one thing of the session: `echo` when that was known. */
  line(value: Members, voice: ClaudeVoice): 'mapped' | 'echo' {
    const type = textMember(value, 'type') ?? '';
    if (type === 'worktree-state') return this.#change(worktreeOf(value['worktreeSession']), voice);
    const [member, field] = lineFields.get(type) ?? [type, type];
    const stated = textMember(value, member);
    if (stated === undefined) return 'echo';
    if (field !== 'title') return this.#change([[field, stated]], voice);
    // Titles of several makers are said by turns: what counts is whether its maker says something new.
    const isKnown = this.#fields.get(type) === stated;
    this.#fields.set(type, stated);
    const isOutranked = type !== 'custom-title' && this.#fields.has('custom-title');
    return isKnown || isOutranked ? 'echo' : this.#change([[field, stated]], voice);
  }

  #change(changes: readonly Change[], voice: ClaudeVoice): 'mapped' | 'echo' {
    const news = changes.filter(([field, value]) => this.#fields.get(field) !== value);
    for (const [field, value] of news) {
      this.#fields.set(field, value);
      voice.emit({ type: 'run.changed', field, value }, { part: `changed\0${field}` });
    }
    return news.length === 0 ? 'echo' : 'mapped';
  }
}

function statedIn(value: Members): readonly Change[] {
  return envelopeFields.flatMap(([member, field]) => {
    const stated = textMember(value, member);
    return stated === undefined || stated === '' ? [] : [[field, stated] as const];
  });
}

function worktreeOf(session: unknown): readonly Change[] {
  if (!isMembers(session)) return [];
  const cwd = textMember(session, 'worktreePath');
  const branch = textMember(session, 'worktreeBranch');
  return [
    ...(cwd === undefined ? [] : [['cwd', cwd] as const]),
    ...(branch === undefined ? [] : [['branch', branch] as const]),
  ];
}
