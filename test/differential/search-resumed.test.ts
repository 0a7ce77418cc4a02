import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { SeededRandom } from '@turnlog/testkit';
import { type ComparableAnswer, type SearchedStore, withSearchedStore } from './searched-store.js';

/**
 * Engines that take a log in by pieces must know of the items before a piece what a reading from the first record on
 * knows: which snapshot took the place of which does not depend on when anybody looked.
 */

type Step = 'started' | 'updated' | 'completed' | 'look' | 'look anew';
/** What comes to the log, or that somebody searches; a snapshot without words has no text. */
type Line = readonly [step: Step, id?: string, text?: string];

class GrowingLog {
  readonly #place: SearchedStore;
  #seq = 0;

  constructor(place: SearchedStore) {
    this.#place = place;
    mkdirSync(place.path('sessions/a'), { recursive: true, mode: 0o700 });
    this.write({ type: 'turn.started' });
  }

  write(event: object): void {
    this.#seq += 1;
    const line = JSON.stringify({ schema_version: '0.18.0', seq: this.#seq, event });
    appendFileSync(this.#place.path('sessions/a/events.jsonl'), `${line}\n`, { mode: 0o600 });
  }

  snapshot(step: Step, id: string, text: string): void {
    this.write({ type: `item.${step}`, item: { id, type: 'agent_message', text } });
  }
}

async function run(place: SearchedStore, lines: readonly Line[]): Promise<void> {
  const log = new GrowingLog(place);
  for (const [step, id = '', text = ''] of lines) {
    if (step === 'look anew') place.restart();
    if (step === 'look' || step === 'look anew') await place.answer({ text: 'word' });
    else log.snapshot(step, id, text);
  }
}

/** What each engine answers about a log that was read whole. */
async function freshAnswer(bytes: Uint8Array): Promise<ComparableAnswer> {
  let answer: ComparableAnswer | null = null;
  await withSearchedStore(async (place) => {
    mkdirSync(place.path('sessions/a'), { recursive: true, mode: 0o700 });
    appendFileSync(place.path('sessions/a/events.jsonl'), bytes, { mode: 0o600 });
    answer = await place.answer({ text: 'word', limit: 100, explain: true });
  });
  if (answer === null) throw new Error('nothing was asked');
  return answer;
}

async function expectAsFresh(place: SearchedStore): Promise<void> {
  const resumed = await place.answer({ text: 'word', limit: 100, explain: true });
  expect(resumed).toEqual(await freshAnswer(readFileSync(place.path('sessions/a/events.jsonl'))));
}

const logs: readonly (readonly [name: string, lines: readonly Line[]])[] = [
  [
    'an item that was updated behind its completion is completed',
    [['completed', 'i', 'word 1'], ['updated', 'i', 'word 2'], ['look anew'], ['started', 'i', 'word 3']],
  ],
  [
    'a new item that has said nothing yet does not take the place of the one before',
    [['completed', 'i', 'word 1'], ['started', 'i'], ['look anew'], ['completed', 'i', 'word 2']],
  ],
  [
    'an item that was completed without a word is completed',
    [
      ['started', 'i', 'word 1'],
      ['completed', 'i'],
      ['look anew'],
      ['updated', 'i', 'word 2'],
      ['look anew'],
      ['started', 'i', 'word 3'],
    ],
  ],
  [
    'a second item that was silent throughout stands before a third one',
    [
      ['completed', 'i', 'word 1'],
      ['started', 'i'],
      ['completed', 'i'],
      ['look anew'],
      ['updated', 'i', 'word 2'],
      ['look anew'],
      ['started', 'i', 'word 3'],
    ],
  ],
];

const looks = ['look', 'look anew'] as const;

test.each(logs)('%s, wherever a reading goes on', async (_name, lines) => {
  for (const look of looks) {
    await withSearchedStore(async (place) => {
      await run(
        place,
        lines.map((line) => (line[0] === 'look anew' ? [look] : line)),
      );
      await expectAsFresh(place);
    });
  }
});

test('a completion in a frame that came to nothing completes no item', async () => {
  await withSearchedStore(async (place) => {
    const log = new GrowingLog(place);
    log.snapshot('started', 'i', 'word 1');
    log.write({ type: 'journal.begin', frame: 'f', fence: null, kind: 'append' });
    log.snapshot('completed', 'i', 'word 2');
    log.write({ type: 'journal.void', frame: 'f' });
    await place.answer({ text: 'word' });
    log.snapshot('started', 'i', 'word 3');
    await expectAsFresh(place);
  });
});

test('pieces of random logs of items are taken in as the whole', async () => {
  const random = new SeededRandom(20);
  const steps: readonly Step[] = ['started', 'updated', 'completed', 'completed', 'look', 'look anew'];
  for (let round = 0; round < 8; round += 1) {
    const lines = Array.from({ length: 24 }, (_, at): Line => {
      const step = steps[random.below(steps.length)] ?? 'look';
      const text = random.below(3) === 0 ? '' : `word ${at}`;
      return [step, `i${random.below(3)}`, text];
    });
    await withSearchedStore(async (place) => {
      await run(place, lines);
      await expectAsFresh(place);
    });
  }
}, 60_000);
