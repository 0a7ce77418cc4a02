import { TurnlogError, utc } from '@turnlog/kernel';
import { type McpService, serveMcp } from '@turnlog/mcp';
import { createRedactor, openStore, type Store } from '@turnlog/store';
import { createTestMachine, FakeClock, ModelFileSystem, type TestMachine } from '@turnlog/testkit';

export interface Reply {
  readonly isError: boolean;
  readonly document: Readonly<Record<string, unknown>>;
  /** Bytes of the structured content, or of the envelope, as JSON. */
  readonly bytes: number;
}

export type Call = readonly [tool: string, input: unknown];

const hello: readonly object[] = [
  {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
];

/** A store in memory, and a server on it for as long as its input lasts. */
export class World {
  readonly root: string = '/data/store';
  readonly disk = new ModelFileSystem({ clock: new FakeClock('skips') });
  readonly machine: TestMachine = createTestMachine({ fs: this.disk });
  readonly passedOver: string[] = [];

  constructor() {
    for (const path of ['/data', this.root, `${this.root}/sessions`]) this.disk.plantDirectory(path);
  }

  store(): Promise<Store> {
    return openStore({ root: this.root, environment: this.machine, cwd: '/', env: {} });
  }

  plant(id: string, events: readonly object[], second = 0): void {
    const directory = `${this.root}/sessions/${id}`;
    if (this.disk.status(directory) === null) this.disk.plantDirectory(directory);
    const lines = events.map((event, at) => {
      const ts = new Date(Date.UTC(2026, 9, 5, 8, 0, second + at)).toISOString();
      return `${JSON.stringify({ schema_version: '0.18.0', seq: at + 1, ts, event })}\n`;
    });
    this.disk.plantFile(`${directory}/events.jsonl`, Buffer.from(lines.join('')));
  }

  /** Answers to calls of tools, in their order. */
  async call(...calls: readonly Call[]): Promise<readonly Reply[]> {
    const requests = calls.map(([name, input], at) => ({
      jsonrpc: '2.0',
      id: at + 1,
      method: 'tools/call',
      params: { name, arguments: input },
    }));
    const written = [...hello, ...requests].map((message) => `${JSON.stringify(message)}\n`).join('');
    const answers = await this.serve([Buffer.from(written)]);
    return requests.map(({ id }) => replyIn(answers.get(id)));
  }

  async one(...call: Call): Promise<Reply> {
    const [reply] = await this.call(call);
    if (reply === undefined) throw new Error('there was no answer');
    return reply;
  }

  async service(): Promise<McpService> {
    const redactor = createRedactor({ key: new Uint8Array(32) });
    return {
      store: await this.store(),
      egress: redactor,
      zone: utc,
      version: '1.2.3',
      engines: [],
      resolvePath: (path) => path,
      head: { schema_version: 1, redacted: true },
      tellError: (error) => envelope(error, (text) => redactor.text(text)),
      onError: ({ message }) => void this.passedOver.push(message),
    };
  }

  /** What comes back for an input, by the ids of the requests. */
  async serve(chunks: readonly Uint8Array[]): Promise<ReadonlyMap<unknown, Message>> {
    const out: string[] = [];
    await serveMcp({
      ...(await this.service()),
      streams: {
        input: async function* () {
          for (const chunk of chunks) yield chunk;
        },
        output: { write: async (chunk) => void out.push(Buffer.from(chunk).toString('utf8')) },
      },
    });
    const messages = out
      .join('')
      .split('\n')
      .filter((line) => line !== '')
      .map((line): Message => JSON.parse(line));
    return new Map(messages.map((message) => [message.id, message]));
  }
}

export interface Message {
  readonly id: unknown;
  readonly result?: {
    readonly isError?: boolean;
    readonly content?: readonly { readonly text: string }[];
    readonly structuredContent?: Readonly<Record<string, unknown>>;
  };
  readonly error?: { readonly code: number; readonly message: string };
}

function envelope(error: unknown, redact: (text: string) => string): ReturnType<typeof told> {
  if (!(error instanceof TurnlogError)) throw error;
  return told(
    error.code,
    redact(error.message).slice(0, 1_000),
    JSON.parse(redact(JSON.stringify(error.details))),
  );
}

function told(code: string, message: string, details: Readonly<Record<string, unknown>>) {
  return { schema_version: 1, error: { code, message, hint: 'h', retryable: false, details } };
}

function replyIn(message: Message | undefined): Reply {
  const result = message?.result;
  const text = result?.content?.[0]?.text;
  if (text === undefined) throw new Error(`there was no answer: ${JSON.stringify(message)}`);
  const document: Readonly<Record<string, unknown>> = JSON.parse(text);
  // The text repeats the same JSON.
  if (result?.structuredContent !== undefined) expect(result.structuredContent).toEqual(document);
  return { isError: result?.isError === true, document, bytes: Buffer.byteLength(text) };
}

/** A list of an answer. */
export function listIn({ document }: Reply, name: string): readonly Readonly<Record<string, unknown>>[] {
  const list = document[name];
  if (!Array.isArray(list))
    throw new Error(`${name} is no list in ${JSON.stringify(document).slice(0, 400)}`);
  return list;
}

export const said = (id: string, text: string): object => ({
  type: 'item.completed',
  item: { id, type: 'agent_message', text },
});

export const asked = (id: string, text: string): object => ({
  type: 'user.message',
  id,
  origin: 'prompt',
  content: [{ type: 'text', text }],
});

export const ended: object = { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } };

export const changed = (id: string, path: string, diff: string, kind = 'update'): object => ({
  type: 'item.completed',
  item: { id, type: 'file_change', status: 'completed', changes: [{ path, kind }], unified_diff: diff },
});

/** Members of answers that hold what was recorded. */
export const dataMembers: readonly string[] = [
  'text',
  'tool',
  'paths',
  'headline',
  'files',
  'title',
  'workspaces',
  'workspace',
  'path',
  'absolute',
];

/** The names of the members whose texts hold a text; no member may be named by it. */
export function placesOf(value: unknown, text: string, name = ''): readonly string[] {
  if (typeof value === 'string') return value.includes(text) ? [name] : [];
  if (Array.isArray(value)) return value.flatMap((each) => placesOf(each, text, name));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) => {
    expect(member).not.toContain(text);
    return placesOf(inner, text, member);
  });
}

/** The bytes of a file of a disk in memory. */
export function readWhole(disk: ModelFileSystem, path: string): Buffer {
  const file = disk.open(path, 'read');
  try {
    const bytes = Buffer.alloc(file.status().size);
    file.read(bytes, 0);
    return bytes;
  } finally {
    file.close();
  }
}
