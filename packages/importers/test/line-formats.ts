/**
 * Every format whose files are lines, as the same small thread: a prompt, a call, and two answers of the agent. What
 * stands in the slots is JSON text and comes into the lines as it is.
 */

/** JSON texts. */
export interface Slots {
  /** A string: what the agent says. */
  readonly text?: string;
  /** A string: the name of the tool. */
  readonly tool?: string;
  /** An object: what the tool is given. */
  readonly args?: string;
  /** The time of the second answer; undefined leaves the member out. */
  readonly time?: string | undefined;
}

export interface LineFormat {
  readonly name: string;
  /** Name of a file as the agent gives it. */
  readonly file: string;
  readonly sessionId: string;
  /** Whether an import reads times from its lines. */
  readonly hasTimes: boolean;
  /** The lines of the thread, without their 0x0A; the second answer, whose text is "end", is on the last but one. */
  lines(slots?: Slots): readonly string[];
}

const uuid = '33333333-3333-4333-8333-333333333333';
const start = '"2026-01-05T10:00:00.000Z"';
const noTime = '"time":';

function member(name: string, json: string | undefined): string {
  return json === undefined ? '' : `"${name}":${json},`;
}

function filled(slots: Slots): { text: string; tool: string; args: string; time: string | undefined } {
  const { text = '"said"', tool = '"lookup"', args = '{"q":1}' } = slots;
  return { text, tool, args, time: 'time' in slots ? slots.time : start };
}

const rollout: LineFormat = {
  name: 'codex-rollout',
  file: `rollout-2026-01-05T10-00-00-${uuid}.jsonl`,
  sessionId: `codex-${uuid}`,
  hasTimes: true,
  lines: (slots = {}) => {
    const { text, tool, args, time } = filled(slots);
    const line = (type: string, payload: string, at: string | undefined = start): string =>
      `{${member('timestamp', at)}"type":"${type}","payload":${payload}}`;
    const said = (words: string): string =>
      `{"type":"message","role":"assistant","content":[{"type":"output_text","text":${words}}]}`;
    return [
      line('session_meta', `{"id":"${uuid}","cwd":"/repo","originator":"codex-tui","source":"cli"}`),
      line('event_msg', '{"type":"task_started","turn_id":"t1"}'),
      line('event_msg', '{"type":"user_message","message":"do it"}'),
      line(
        'response_item',
        `{"type":"function_call","call_id":"c1","name":${tool},"arguments":${JSON.stringify(args)}}`,
      ),
      line('response_item', '{"type":"function_call_output","call_id":"c1","output":"ok"}'),
      line('response_item', said(text)),
      `{${member('timestamp', time)}"type":"response_item","payload":${said('"end"')}}`,
      line('event_msg', '{"type":"task_complete","turn_id":"t1"}'),
    ];
  },
};

const transcript: LineFormat = {
  name: 'claude-code',
  file: `${uuid}.jsonl`,
  sessionId: `claude-${uuid}`,
  hasTimes: true,
  lines: (slots = {}) => {
    const { text, tool, args, time } = filled(slots);
    const line = (n: number, type: string, message: string, at: string | undefined = start): string =>
      `{"uuid":"u${n}","parentUuid":${n === 0 ? 'null' : `"u${n - 1}"`},"isSidechain":false,"cwd":"/repo","sessionId":"${uuid}","version":"2.1.90",${member('timestamp', at)}"type":"${type}","message":${message}}`;
    const answer = (id: string, block: string): string =>
      `{"id":"${id}","role":"assistant","model":"m1","content":[${block}],"usage":{"input_tokens":3,"output_tokens":2}}`;
    const said = (words: string): string => `{"type":"text","text":${words}}`;
    const last = line(4, 'assistant', answer('msg_3', said('"end"')), noTime);
    return [
      line(0, 'user', '{"role":"user","content":"do it"}'),
      line(1, 'assistant', answer('msg_1', `{"type":"tool_use","id":"c1","name":${tool},"input":${args}}`)),
      line(2, 'user', '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}'),
      line(3, 'assistant', answer('msg_2', said(text))),
      last.replace(`"timestamp":${noTime},`, member('timestamp', time)),
      `{"type":"mode","mode":"normal","sessionId":"${uuid}"}`,
    ];
  },
};

const exec: LineFormat = {
  name: 'codex-exec',
  file: 'run.jsonl',
  sessionId: `codex-${uuid}`,
  hasTimes: false,
  lines: (slots = {}) => {
    const { text, tool, args, time } = filled(slots);
    const item = (id: string, more: string): string =>
      `{"type":"item.completed","item":{"id":"${id}",${more}}}`;
    return [
      `{"type":"thread.started","thread_id":"${uuid}"}`,
      '{"type":"turn.started"}',
      item(
        'item_0',
        `"type":"mcp_tool_call","server":"s","tool":${tool},"arguments":${args},"result":{"content":[{"type":"text","text":"ok"}]},"status":"completed"`,
      ),
      item('item_1', `"type":"agent_message","text":${text}`),
      item('item_2', '"type":"agent_message","text":"end"').replace('{', `{${member('timestamp', time)}`),
      '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":2}}',
    ];
  },
};

const stream: LineFormat = {
  name: 'claude-stream',
  file: 'stream.jsonl',
  sessionId: `claude-${uuid}`,
  hasTimes: false,
  lines: (slots = {}) => {
    const { text, tool, args, time } = filled(slots);
    const line = (type: string, more: string): string =>
      `{"type":"${type}",${more},"session_id":"${uuid}","parent_tool_use_id":null}`;
    const answer = (id: string, block: string): string =>
      line(
        'assistant',
        `"message":{"id":"${id}","role":"assistant","model":"m1","content":[${block}],"usage":{"input_tokens":3,"output_tokens":2}}`,
      );
    return [
      line('system', '"subtype":"init","cwd":"/repo","model":"m1","claude_code_version":"2.1.90"'),
      answer('msg_1', `{"type":"tool_use","id":"c1","name":${tool},"input":${args}}`),
      line(
        'user',
        '"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}',
      ),
      answer('msg_2', `{"type":"text","text":${text}}`),
      answer('msg_3', '{"type":"text","text":"end"}').replace('{', `{${member('timestamp', time)}`),
      line('result', '"subtype":"success","is_error":false,"result":"end","duration_ms":5'),
    ];
  },
};

/** Lines of the log contract: they are taken byte for byte. */
const vtcode: LineFormat = {
  name: 'vtcode',
  file: 'events.jsonl',
  sessionId: uuid,
  hasTimes: false,
  lines: (slots = {}) => {
    const { text, tool, args, time } = filled(slots);
    const line = (event: string, at?: string): string =>
      `{"schema_version":"0.18.0",${member('ts', at)}"event":${event}}`;
    const item = (id: string, more: string): string =>
      `{"type":"item.completed","item":{"id":"${id}",${more}}}`;
    return [
      line(`{"type":"thread.started","thread_id":"${uuid}"}`),
      line('{"type":"turn.started"}'),
      line(
        item('i1', `"type":"tool_invocation","tool_name":${tool},"arguments":${args},"status":"completed"`),
      ),
      line(item('i2', `"type":"agent_message","text":${text}`)),
      line(item('i3', '"type":"agent_message","text":"end"'), time),
      line('{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":2}}'),
    ];
  },
};

/** All that exist, in the order in which they are tried. */
export const lineFormats: readonly LineFormat[] = [transcript, rollout, exec, stream, vtcode];

/** The lines as a file. */
export function fileOf(lines: readonly string[], lineEnd = '\n'): Uint8Array {
  return Buffer.from(lines.map((line) => line + lineEnd).join(''));
}
