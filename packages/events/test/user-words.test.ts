import {
  decodeRecord,
  evolveTurnMessages,
  initialTurnMessages,
  isOwnWords,
  messageText,
  ownWordsOrigins,
  type TurnMessage,
  type UnknownEvent,
} from '../src/index.js';
import { messageOrigins } from '../src/turnlog-event.js';
import { goldenBytes, linesOf } from './wire-files.js';

const message = (id: string, origin: string, text = id): UnknownEvent => ({
  type: 'user.message',
  id,
  origin,
  content: [{ type: 'text', text }],
});
const started: UnknownEvent = { type: 'turn.started' };
const note: UnknownEvent = { type: 'error', message: 'm' };
const recovered: UnknownEvent = { type: 'log.recovered', reason: 'torn_tail', damage: [], open_turn: 1 };
const redacted = (original: string): UnknownEvent => ({ type: 'log.redacted', original_type: original });

test('C-12 prompt, queued, slash_command and shell_bang are the user’s own words, and no other origin is', () => {
  expect([...ownWordsOrigins].sort()).toEqual(['prompt', 'queued', 'shell_bang', 'slash_command']);
  expect(messageOrigins.filter(isOwnWords)).toEqual(['prompt', 'queued', 'slash_command', 'shell_bang']);
  for (const origin of ['', 'Prompt', 'telepathy', 'toString', '__proto__'])
    expect(isOwnWords(origin)).toBe(false);
});

const turns: readonly (readonly [
  title: string,
  events: readonly (UnknownEvent | null)[],
  opening: string | null,
  further: readonly string[],
])[] = [
  [
    'the message directly after turn.started opened it',
    [started, message('u', 'prompt'), note],
    '2 u prompt own',
    [],
  ],
  [
    'further ones are given to it later, whatever they are',
    [started, message('u', 'prompt'), message('k', 'injected'), note, message('q', 'queued')],
    '2 u prompt own',
    ['3 k injected', '5 q queued own'],
  ],
  ['a turn that others open', [started, message('c', 'compact_summary')], '2 c compact_summary', []],
  ['an origin that is not known stays as it is', [started, message('t', 'telepathy')], '2 t telepathy', []],
  [
    'a record between the two: nothing opened it',
    [started, note, message('u', 'prompt')],
    null,
    ['3 u prompt own'],
  ],
  [
    'an event too deep to be read is a record as well',
    [started, null, message('u', 'prompt')],
    null,
    ['3 u prompt own'],
  ],
  [
    'what the engine reports of a crash between the two does not part them',
    [started, recovered, message('u', 'prompt')],
    '3 u prompt own',
    [],
  ],
  [
    'a message that was redacted opened it all the same',
    [started, redacted('user.message'), message('k', 'injected')],
    '2 redacted',
    ['3 k injected'],
  ],
  ['another redacted record', [started, redacted('error'), message('k', 'injected')], null, ['3 k injected']],
  ['without a turn.started', [message('u', 'prompt')], null, ['1 u prompt own']],
  ['no message', [started, note], null, []],
  [
    'the next turn.started begins anew',
    [started, message('u', 'prompt'), started, message('v', 'prompt')],
    '4 v prompt own',
    [],
  ],
];

function shown(given: TurnMessage<number>): string {
  if (given.message === null) return `${given.position} redacted`;
  expect(given.text).toBe(given.message.id);
  return `${given.position} ${given.message.id} ${given.origin}${given.isOwnWords ? ' own' : ''}`;
}

test.each(turns)('C-12 what the user said: %s', (_title, events, opening, further) => {
  let state = initialTurnMessages<number>();
  events.forEach((event, index) => {
    state = evolveTurnMessages(state, event, index + 1);
  });
  expect(state.opening === null ? null : shown(state.opening)).toBe(opening);
  expect(state.further.map(shown)).toEqual(further);
});

const contents: readonly (readonly [title: string, content: unknown, text: string])[] = [
  [
    'parts of text, a line break between them',
    [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b\n' },
    ],
    'a\nb\n',
  ],
  [
    'assets and unknown parts have none',
    [
      { type: 'asset', sha256: '0', bytes: 1, media_type: 'image/png', name: 'n' },
      { type: 'text', text: 'a' },
      { type: 'hologram', text: 'h' },
    ],
    'a',
  ],
  ['nothing', [], ''],
  ['no list', 'a', ''],
  [
    'parts of another form',
    [null, 'a', { type: 'text' }, { type: 'text', text: 1 }, [{ type: 'text', text: 'x' }]],
    '',
  ],
];

test.each(contents)('text of a content: %s', (_title, content, text) => {
  expect(messageText(content)).toBe(text);
});

test('the message of the golden log opened its turn', () => {
  const golden = goldenBytes('golden.jsonl');
  const events = linesOf(golden).map(({ start, end }) => decodeRecord(golden, start, end).event);
  let state = initialTurnMessages<number>();
  events.slice(3, 6).forEach((event, index) => {
    state = evolveTurnMessages(state, event, index);
  });
  expect(state.opening).toMatchObject({ position: 1, message: events[4], isOwnWords: true });
});
