/**
 * LoCoMo (Maharana et al. 2024): long conversations of two people, and questions whose evidence is known by turn. The
 * file is read from where its owner keeps it; nothing of it is stored here.
 */
export interface LocomoQuestion {
  /** The sessions of one conversation work in one directory: a question is asked within it. */
  readonly workspace: string;
  readonly text: string;
  readonly category: string;
  /** Ids of the records that hold the evidence. */
  readonly evidence: readonly string[];
}

export interface LocomoSession {
  readonly session: string;
  readonly log: string;
}

export interface LocomoSet {
  readonly sessions: readonly LocomoSession[];
  readonly questions: readonly LocomoQuestion[];
}

/** Reads the value of a file; turns and questions that lack what they need are left out. */
export function readLocomo(value: unknown): LocomoSet {
  const sessions: LocomoSession[] = [];
  const questions: LocomoQuestion[] = [];
  for (const [at, sample] of listIn(value).entries()) {
    const { sample_id: name, conversation, qa } = membersOf(sample);
    const prefix = `${textIn(name) || 'sample'}-${at + 1}`.replaceAll(/[^A-Za-z0-9-]/g, '-');
    const workspace = `/locomo/${prefix}`;
    const places = new Map<string, string>();
    sessions.push(...sessionsOf(membersOf(conversation), { prefix, workspace, places }));
    for (const asked of listIn(qa)) {
      const { question, category, evidence } = membersOf(asked);
      const found = evidenceIds(evidence).flatMap((id) => places.get(id) ?? []);
      if (textIn(question) === '' || found.length === 0) continue;
      questions.push({ workspace, text: textIn(question), category: String(category), evidence: found });
    }
  }
  return { sessions, questions };
}

interface SampleContext {
  readonly prefix: string;
  readonly workspace: string;
  /** Where each turn of the conversation went. */
  readonly places: Map<string, string>;
}

function sessionsOf(
  conversation: Readonly<Record<string, unknown>>,
  { prefix, workspace, places }: SampleContext,
): readonly LocomoSession[] {
  const first = textIn(conversation['speaker_a']);
  return Object.keys(conversation)
    .filter((name) => /^session_\d+$/.test(name))
    .map((name) => {
      const session = `${prefix}-${name.slice('session_'.length)}`;
      const startMs = timeOf(textIn(conversation[`${name}_date_time`]));
      const events: object[] = [
        { type: 'thread.started', thread_id: session },
        { type: 'run.started', program: 'locomo', version: '1', cwd: workspace, workspace },
      ];
      for (const turn of listIn(conversation[name])) {
        const { speaker, dia_id: id, text, blip_caption: caption } = membersOf(turn);
        const shown = textIn(caption) === '' ? '' : ` (a picture: ${textIn(caption)})`;
        const said = `${textIn(speaker)}: ${textIn(text)}${shown}`;
        const isFirst = textIn(speaker) === first;
        if (isFirst) events.push({ type: 'turn.started' });
        events.push(eventOf(said, textIn(id) || String(events.length), isFirst));
        places.set(textIn(id), `${session}:${events.length}`);
      }
      return { session, log: logOf(events, startMs) };
    });
}

function eventOf(text: string, id: string, isUser: boolean): object {
  return isUser
    ? { type: 'user.message', id, origin: 'prompt', content: [{ type: 'text', text }] }
    : { type: 'item.completed', item: { id, type: 'agent_message', text } };
}

function logOf(events: readonly object[], startMs: number | null): string {
  return events
    .map((event, at) => {
      const ts = startMs === null ? {} : { ts: new Date(startMs + at * 1_000).toISOString() };
      return `${JSON.stringify({ schema_version: '0.18.0', seq: at + 1, ...ts, event })}\n`;
    })
    .join('');
}

/** One entry may name several turns. */
function evidenceIds(value: unknown): readonly string[] {
  return listIn(value).flatMap((entry) => textIn(entry).match(/D\d+:\d+/g) ?? []);
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** As in `1:56 pm on 8 May, 2023`; null for any other text. */
export function timeOf(text: string): number | null {
  const found = /^(\d{1,2}):(\d{2}) ([ap])m on (\d{1,2}) ([A-Za-z]{3})[a-z]*,? (\d{4})$/.exec(text.trim());
  if (found === null) return null;
  const [, hour = '', minute = '', half = '', day = '', month = '', year = ''] = found;
  const place = months.indexOf(month.toLowerCase());
  if (place === -1) return null;
  const hours = (Number(hour) % 12) + (half === 'p' ? 12 : 0);
  return Date.UTC(Number(year), place, Number(day), hours, Number(minute));
}

export interface LocomoScores {
  readonly questions: number;
  /** A session with evidence is among the first of the sessions. */
  readonly 'any@1': number;
  readonly 'any@5': number;
  readonly 'any@10': number;
  /** All sessions with evidence are. */
  readonly 'all@5': number;
  readonly 'all@10': number;
  /** A turn with evidence is among the first five hits. */
  readonly 'turn any@5': number;
  /** Of the first session with evidence. */
  readonly mrr: number;
}

/** Ids of hits, the best first, for each question. */
export function locomoScores(
  answers: readonly { readonly question: LocomoQuestion; readonly ids: readonly string[] }[],
): LocomoScores {
  const mean = (value: (answer: (typeof answers)[number]) => number): number =>
    answers.length === 0 ? 0 : answers.reduce((sum, answer) => sum + value(answer), 0) / answers.length;
  const any = (within: number) => (answer: (typeof answers)[number]) =>
    sessionRanks(answer).some((rank) => rank <= within) ? 1 : 0;
  const all = (within: number) => (answer: (typeof answers)[number]) =>
    sessionRanks(answer).every((rank) => rank <= within) ? 1 : 0;
  return {
    questions: answers.length,
    'any@1': mean(any(1)),
    'any@5': mean(any(5)),
    'any@10': mean(any(10)),
    'all@5': mean(all(5)),
    'all@10': mean(all(10)),
    'turn any@5': mean(({ question, ids }) =>
      ids.slice(0, 5).some((id) => question.evidence.includes(recordOf(id))) ? 1 : 0,
    ),
    mrr: mean((answer) => 1 / Math.min(...sessionRanks(answer))),
  };
}

/** The rank of each session with evidence, by its best hit; infinite for one that was not found. */
function sessionRanks({
  question,
  ids,
}: {
  readonly question: LocomoQuestion;
  readonly ids: readonly string[];
}): readonly number[] {
  const order = [...new Set(ids.map(sessionOf))];
  return [...new Set(question.evidence.map(sessionOf))].map((session) => {
    const at = order.indexOf(session);
    return at === -1 ? Number.POSITIVE_INFINITY : at + 1;
  });
}

function sessionOf(id: string): string {
  return id.slice(0, id.indexOf(':'));
}

function recordOf(id: string): string {
  return id.split(':').slice(0, 2).join(':');
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
