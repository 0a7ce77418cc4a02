import { canonicalJson, logicalDigest } from '@turnlog/kernel';
import { effectiveRecords } from '@turnlog/log';
import {
  activityView,
  filesView,
  memoryView,
  progressView,
  toolsView,
  usageView,
  type View,
  type ViewRecord,
  viewRecord,
  views,
} from '@turnlog/views';
import fc from 'fast-check';
import { arbitraryLines } from './arbitrary-log.js';
import { knownLogs, logOf, TestStore, turnStarted } from './support.js';

const snapshot = {
  type: 'matrix.updated',
  spec: { id: 'm1', tasks: [{ id: 't1', instructions: 'x', checks: ['test'] }] },
  tasks: [{ id: 't1', status: 'queued' }],
  revision: 1,
};

const madeLogs = [
  {
    name: 'a header of an eviction where none belongs',
    bytes: Buffer.from(
      logOf([
        { type: 'error', message: 'x' },
        { type: 'log.evicted', carried: [{ event: snapshot }] },
      ]),
    ),
  },
  {
    name: 'a header of an eviction',
    bytes: Buffer.from(
      logOf([{ type: 'log.evicted', carried: [{ event: snapshot }] }, snapshot, turnStarted]),
    ),
  },
];

const logs = [...knownLogs(), ...madeLogs];

async function recordsOf(bytes: Uint8Array | string): Promise<readonly ViewRecord[]> {
  const place = await TestStore.make();
  place.plant('case', bytes);
  return place.reading('case', (reader) =>
    [...effectiveRecords(reader.records())].map(({ record }) => viewRecord(record)),
  );
}

/** What every view must do. */
function describeView<State>(view: View<State>): void {
  const digest = (state: State): string => logicalDigest(view.toJson(state));
  const fold = (state: State, records: readonly ViewRecord[]): State => records.reduce(view.evolve, state);
  const published = (state: State): State => view.fromJson(JSON.parse(JSON.stringify(view.toJson(state))));

  const expectIncremental = (records: readonly ViewRecord[], cuts: readonly number[]): void => {
    const whole = fold(view.initial('case'), records);
    const wanted = canonicalJson(view.toJson(whole));
    for (const cut of cuts) {
      const before = fold(view.initial('case'), records.slice(0, cut));
      const resumed = fold(published(before), records.slice(cut));
      expect([cut, canonicalJson(view.toJson(resumed))]).toEqual([cut, wanted]);
      if (view.toDocument === undefined) continue;
      expect(canonicalJson(view.toDocument(resumed))).toBe(canonicalJson(view.toDocument(whole)));
    }
  };

  describe(`view contract: ${view.name}`, () => {
    test.each(logs)(
      'I9: published in the middle of $name and gone on with, it equals the rebuilt one',
      async ({ bytes }) => {
        const records = await recordsOf(bytes);
        const every = Math.max(1, Math.floor(records.length / 20));
        const cuts = records.map((_, index) => index).filter((index) => index % every === 0);
        expectIncremental(records, [...cuts, records.length]);
      },
    );

    test('I9: published in the middle of any log and gone on with, it equals the rebuilt one', async () => {
      await fc.assert(
        fc.asyncProperty(arbitraryLines, fc.nat(), async (lines, at) => {
          const records = await recordsOf(lines.join(''));
          expectIncremental(records, [0, at % (records.length + 1), records.length]);
        }),
      );
    });

    test('a later state never changes an earlier one, and the same record gives the same state', async () => {
      await fc.assert(
        fc.asyncProperty(arbitraryLines, async (lines) => {
          const records = await recordsOf(lines.join(''));
          const states = [view.initial('case')];
          const digests = states.map(digest);
          for (const record of records) {
            const state = view.evolve(states.at(-1) as State, record);
            states.push(state);
            digests.push(digest(state));
          }
          expect(states.map(digest)).toEqual(digests);
          for (const [index, record] of records.entries()) {
            expect(digest(view.evolve(states[index] as State, record))).toBe(digests[index + 1]);
          }
        }),
        { numRuns: 30 },
      );
    });

    test('what was not published by it is refused', () => {
      for (const value of [null, [], 'x', {}, { items: 7 }, { records: [[]] }, { turns: [{}] }]) {
        expect(() => view.fromJson(value)).toThrow(expect.objectContaining({ name: 'WrongShape' }));
      }
    });
  });
}

describeView(activityView);
describeView(usageView);
describeView(toolsView);
describeView(filesView);
describeView(progressView);
describeView(memoryView);

test('every view is registered once, under a name that can be a file', () => {
  const names = views.map(({ name }) => name);
  expect(names).toEqual(['activity', 'usage', 'tools', 'files', 'progress', 'memory']);
  for (const name of names) expect(`${name}.json`).toMatch(/^[a-z-]{1,30}\.json$/);
});

test('there are logs to try the views on', () => {
  expect(logs.length).toBeGreaterThanOrEqual(4);
});
