// The data of the benchmark: deterministic, from a seed, shaped like the log of a coding agent. A turn has about
// 22 events; messages have 200 to 2,000 characters, the output of a tool 0.1 to 16 KB with a heavy tail, a little
// of it is not ASCII; a record takes about 770 bytes.

/** Numbers from 0 to 1 that depend on the seed alone (xorshift, 32 bits). */
export function createRandom(seed) {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}

const syllables = 'ba co di fe gu ha jo ki lu me no pa qui ro se ta uv wo xi zu'.split(' ');
const rareWords = ['Größe', 'naïve', '語彙', 'Ω', '🦊', '“so”', '"key"', 'C:\\path', 'μs'];

export function createText(random) {
  const words = Array.from({ length: 4_000 }, () => {
    const count = 1 + Math.floor(random() * 4);
    return Array.from({ length: count }, () => syllables[Math.floor(random() * syllables.length)]).join('');
  });
  const word = () =>
    random() < 0.005
      ? rareWords[Math.floor(random() * rareWords.length)]
      : words[Math.floor(random() * random() * words.length)];
  return (characters) => {
    let text = word();
    while (text.length < characters) text += (random() < 0.08 ? '\n' : ' ') + word();
    return text.slice(0, characters);
  };
}

/** Makes turns, each a list of events, for as long as it is asked. */
export function createTurns(seed = 20_261_005) {
  const random = createRandom(seed);
  const text = createText(random);
  let turn = 0;
  let item = 0;

  const between = (least, most) => least + Math.floor(random() * (most - least + 1));
  // Short ones are common: 100 characters at least; one in thirty is longer than 10,000.
  const outputLength = () => Math.min(16_000, Math.floor(100 / (1 - random()) ** 1.35));
  const messageLength = () => Math.floor(200 + 1_800 * random() ** 2);

  const nextId = () => {
    item += 1;
    return `i${item}`;
  };
  const completed = (entry) => ({ type: 'item.completed', item: { id: nextId(), ...entry } });

  const toolCall = () => {
    const id = nextId();
    const call = {
      id,
      type: 'tool_invocation',
      tool_name: 'read_file',
      arguments: { path: `src/${text(12).replace(/\W/g, '-')}.ts`, offset: between(0, 900), limit: 200 },
      tool_call_id: `call_${id}`,
    };
    return [
      { type: 'item.started', item: { ...call, status: 'in_progress' } },
      { type: 'item.completed', item: { ...call, status: 'completed', outcome: 'success' } },
      {
        type: 'item.completed',
        item: {
          id: `${id}:output`,
          type: 'tool_output',
          call_id: id,
          tool_call_id: `call_${id}`,
          output: text(outputLength()),
          exit_code: 0,
          status: 'completed',
        },
      },
    ];
  };

  return () => {
    turn += 1;
    const events = [
      { type: 'turn.started' },
      {
        type: 'user.message',
        id: `u${turn}`,
        origin: 'prompt',
        content: [{ type: 'text', text: text(messageLength()) }],
      },
    ];
    const calls = between(3, 5);
    for (let call = 0; call < calls; call += 1) {
      events.push(completed({ type: 'reasoning', text: text(messageLength()), stage: 'diagnosis' }));
      events.push(...toolCall());
      if (call % 2 === 0) events.push(completed({ type: 'agent_message', text: text(messageLength()) }));
    }
    events.push(completed({ type: 'agent_message', text: text(messageLength()) }));
    events.push({
      type: 'turn.completed',
      usage: {
        input_tokens: between(500, 90_000),
        cached_input_tokens: between(0, 400),
        cache_creation_tokens: 0,
        output_tokens: between(10, 4_000),
      },
    });
    return events;
  };
}

/** Whole turns with at least so many events. */
export function makeTurns(eventCount, seed) {
  const next = createTurns(seed);
  const turns = [];
  for (let count = 0; count < eventCount; count += turns.at(-1).length) turns.push(next());
  return turns;
}
