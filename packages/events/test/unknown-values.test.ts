import { eventRule } from '../src/event-shapes.js';
import {
  type ContentFlag,
  decodeRecord,
  emptyOrder,
  evolveItems,
  evolveMatrices,
  evolveTurnMessages,
  initialItems,
  initialMatrices,
  initialTurnMessages,
  inspectRecord,
  isKnownEventName,
  judgeLine,
  knownEventNames,
  listItems,
  listMatrices,
  order,
  parseEvent,
  peekRecord,
  readUsageCounts,
  turnUsage,
  type UnknownEvent,
} from '../src/index.js';
import { itemRule } from '../src/item-shapes.js';
import { type Invention, inventionsOf, sampleOf } from './inventions.js';
import { lineOf, utf8 } from './wire-files.js';

const inventions = inventionsOf(eventRule);

/** The enums of the contract, written out once more by hand; `item` stands for the item of all three item events. */
const enumPlaces = [
  'thread.completed subtype',
  'thread.compact_boundary trigger',
  'thread.compact_boundary mode',
  'context.reset trigger',
  'turn.started context origin',
  'permission.resolved decision',
  'interjected source',
  'interjected redirect_kind',
  'plan.approval.resolved decision',
  'matrix.updated lifecycle',
  'matrix.updated spec tasks[] access',
  'matrix.updated tasks[] status',
  'matrix.updated tasks[] attempts[] phase',
  'matrix.updated tasks[] attempts[] outcome',
  'log.evicted archive codec',
  'log.recovered reason',
  'log.removed reason',
  'user.message origin',
  'run.started agent',
  'journal.begin kind',
  'job.begin kind',
  'item<command_execution> status',
  'item<tool_invocation> status',
  'item<tool_invocation> outcome',
  'item<tool_output> status',
  'item<file_change> changes[] kind',
  'item<file_change> status',
  'item<mcp_tool_call> status',
  'item<harness> event',
  ...[...itemRule.variants.keys()].map((type) => `item<${type}> context activity`),
];

function shortPlace(place: string): string {
  return place.replace(/^<item\.\w+> /, '').replace(/^<([\w.]+)>/, '$1');
}

test('C-40 the table of inventions holds every enum, every type and every object of the contract', () => {
  const placesOf = (kind: Invention['kind']): readonly string[] =>
    inventions.filter((found) => found.kind === kind).map(({ place }) => shortPlace(place));
  expect([...new Set(placesOf('enum'))].sort()).toEqual([...enumPlaces].sort());
  expect(placesOf('enum').filter((place) => place.startsWith('item'))).toHaveLength(
    3 * (8 + itemRule.variants.size),
  );
  expect(new Set(placesOf('type'))).toEqual(new Set(['', 'item', 'user.message content[]']));
  const owners = placesOf('member').filter((place) => !place.includes(' ') && !place.startsWith('item<'));
  expect(new Set(owners)).toEqual(new Set(eventRule.variants.keys()));
});

interface Case {
  readonly title: string;
  readonly event: UnknownEvent;
  readonly flags: readonly ContentFlag[];
}

function flagsOf({ place, kind }: Invention): readonly ContentFlag[] {
  if (kind === 'member') return [];
  // C-57: a kind of frame that is not listed counts as an unknown type of its family.
  if (kind === 'enum') return [/begin> kind$/.test(place) ? 'unknown-type' : 'unknown-enum'];
  if (place === '') return ['unknown-type'];
  return place.endsWith('item') ? ['unknown-item'] : ['unknown-enum'];
}

const cases: readonly Case[] = [
  ...inventions.map((found) => ({
    title: `${found.kind} ${found.place}`,
    event: found.value as UnknownEvent,
    flags: flagsOf(found),
  })),
  ...knownEventNames.map((name) => ({
    title: `event type ${name}.invented`,
    event: { type: `${name}.invented`, usage: { input_tokens: 5 }, item: { id: 'i', type: 'plan' } },
    flags: ['unknown-type' as const],
  })),
  ...knownEventNames
    .filter((name) => !eventRule.variants.has(name))
    .map((name) => ({
      title: `member of ${name}`,
      event: { type: name, invented: [null, 'unknown'] },
      flags: [],
    })),
  ...[...itemRule.variants.keys()].map((type) => ({
    title: `item type ${type}_invented`,
    event: {
      type: 'item.completed',
      item: { id: 'i', type: `${type}_invented`, status: 'completed', text: 't' },
    },
    flags: ['unknown-item' as const],
  })),
];

/** What the folds give for one event, which stands behind an ordinary beginning of a turn. */
function expectFolded(event: UnknownEvent): void {
  const { type } = event;
  const isItem = type === 'item.started' || type === 'item.updated' || type === 'item.completed';
  const items = listItems(evolveItems(initialItems<number>(), event, 1));
  expect(items.map(({ item, type: itemType }) => [item, itemType])).toEqual(
    isItem ? [[event['item'], Reflect.get(event['item'] as object, 'type')]] : [],
  );
  const matrices = listMatrices(evolveMatrices(initialMatrices<number>(), event, 1));
  expect(matrices.map(({ snapshot }) => snapshot)).toEqual(type === 'matrix.updated' ? [event] : []);
  const started = evolveTurnMessages(initialTurnMessages<number>(), { type: 'turn.started' }, 1);
  const { opening, further } = evolveTurnMessages(started, event, 2);
  expect([opening?.message ?? null, opening?.origin ?? null]).toEqual(
    type === 'user.message' ? [event, event['origin']] : [null, null],
  );
  expect(further).toEqual([]);
}

function expectUsage(event: UnknownEvent, text: string): void {
  const { usage } = turnUsage([{ type: event.type, eventBytes: () => utf8(text) }]);
  const isClosing = ['turn.completed', 'turn.failed', 'turn.blocked'].includes(event.type);
  const stated = isClosing && event['usage'] !== undefined ? utf8(JSON.stringify(event['usage'])) : null;
  expect(usage).toEqual(stated === null ? null : readUsageCounts(stated, 0, stated.length));
  if (stated !== null) expect(usage).not.toBeNull();
}

test.each(cases)('C-40 nothing replaces what is not known: $title', ({ event, flags }) => {
  const text = JSON.stringify(event);
  const line = utf8(lineOf(text));
  // It is a record, counted and numbered like any other.
  const [piece, ...others] = judgeLine(line, 0, line.length, { highestSeq: 0, isTerminated: true });
  expect(others).toEqual([]);
  expect(piece).toMatchObject({ verdict: 'record', isSalvaged: false, record: { type: event.type } });
  const peeked = peekRecord(line, 0, line.length);
  if (typeof peeked === 'string') throw new Error(peeked);
  expect(order(emptyOrder, peeked, () => false)).toMatchObject({ seq: 1, flags: [] });
  // Its values are those of the line, member for member.
  expect(decodeRecord(line, 0, line.length).event).toStrictEqual(event);
  expect(parseEvent(line, peeked.eventStart, peeked.eventEnd)).toStrictEqual(event);
  // It is flagged, never invalid.
  expect(inspectRecord(line, 0, line.length, true)).toEqual({ flags, faults: [] });
  expectFolded(event);
  expectUsage(event, text);
});

test('a value of the table, in the same places, is not flagged', () => {
  for (const [type, rule] of eventRule.variants) {
    const line = utf8(lineOf(JSON.stringify({ ...(sampleOf(rule) as object), type })));
    expect(inspectRecord(line, 0, line.length, true)).toEqual({ flags: [], faults: [] });
    expect(isKnownEventName(type)).toBe(true);
  }
});
