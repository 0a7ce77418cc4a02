import { corpusBytes, hasCorpus, linesOf, sayWithoutCorpus } from './stream-lines.js';
import {
  type Event,
  eventsOf,
  importAll,
  makeThreadDesk,
  member,
  plantFiles,
  type ThreadDesk,
} from './thread-files.js';
import { message, meta, rolloutLine, tokens, usage } from './thread-samples.js';

sayWithoutCorpus('codex-copies');

const parentThread = '019d7d08-46c9-7f73-affe-4e6ca9852d56';
const childThread = '019d7e3e-fae8-7a02-86dc-fa6bbec0caab';
const parentId = `codex-${parentThread}`;
const childId = `codex-${parentThread}.${childThread}`;

/** Events of the thread itself: without its header, what was copied and the passes. */
function ownOf(desk: ThreadDesk, sessionId: string): readonly Event[] {
  const others = ['run.kept', 'run.imported', 'run.source', 'run.started', 'thread.started'];
  return eventsOf(desk, sessionId).filter(({ type }) => !others.includes(String(type)));
}

function ledgerLines(desk: ThreadDesk, sessionId: string, place: string): number {
  const passes = eventsOf(desk, sessionId).filter(({ type }) => type === 'run.imported');
  return passes
    .flatMap(({ ledger }) => Object.entries(member(ledger, 'records') as Record<string, number>))
    .filter(([name]) => name.startsWith(place))
    .reduce((sum, [, count]) => sum + count, 0);
}

if (hasCorpus) {
  test('G-14 a fork has the same own events with its parent and without; what it copied is inherited, or kept', async () => {
    const child = corpusBytes('codex', 'entireio-git-sync', '0.118-fork-child-compacted.jsonl');
    const parent = corpusBytes('codex', 'entireio-git-sync', '0.118-fork-parent.jsonl');
    const alone = makeThreadDesk();
    plantFiles(alone, { 'child.jsonl': child });
    await importAll(alone);
    const both = makeThreadDesk();
    // The child is found first; its parent is imported before it all the same.
    plantFiles(both, { 'a-child.jsonl': child, 'b-parent.jsonl': parent });
    const report = await importAll(both);
    expect(report).toMatchObject({ forkedCount: 1, isWhole: true });
    const late = makeThreadDesk();
    plantFiles(late, { 'child.jsonl': child });
    await importAll(late);
    plantFiles(late, { 'parent.jsonl': parent });
    await importAll(late);

    const own = ownOf(alone, childId);
    expect(own.length).toBeGreaterThan(250);
    expect(ownOf(both, childId)).toEqual(own);
    expect(ownOf(late, childId)).toEqual(own);
    expect(ownOf(both, parentId)).toEqual(ownOf(late, parentId));

    expect(ledgerLines(both, childId, 'inherited:')).toBe(744);
    expect(ledgerLines(alone, childId, 'kept:copied:')).toBe(744);
    const kept = eventsOf(alone, childId).filter(({ type }) => type === 'run.kept');
    expect(kept.map((event) => member(event, 'src', 'line'))).toEqual(
      Array.from({ length: 744 }, (_, index) => index + 2),
    );
    const said = own.filter(({ type }) => type === 'user.message');
    expect(said.slice(0, 2).map((event) => [event['origin'], member(event, 'src', 'line')])).toEqual([
      ['injected', 746],
      ['subagent_prompt', 750],
    ]);
    const answer = own.find(({ type }) => type === 'run.answer');
    const total = Number(member(answer, 'raw', 'total_token_usage', 'input_tokens'));
    expect(total - Number(member(answer, 'usage', 'input_tokens'))).toBe(16_609_549);
    const [run] = eventsOf(both, childId).filter(({ type }) => type === 'run.started');
    expect(run).toMatchObject({
      agent: 'subagent',
      parent: { session: parentId, thread_id: parentThread },
      forked_from: { session: parentId, thread_id: parentThread, records: 744 },
    });
  }, 60_000);

  test('a state that was lost is made up from the raw copy when a fork asks for its parent', async () => {
    const desk = makeThreadDesk();
    plantFiles(desk, {
      'parent.jsonl': corpusBytes('codex', 'entireio-git-sync', '0.118-fork-parent.jsonl'),
    });
    await importAll(desk);
    desk.fs.removeFile(`/store/sessions/${parentId}/derived/import.json`);
    desk.fs.removeFile('/foreign/parent.jsonl');
    plantFiles(desk, {
      'child.jsonl': corpusBytes('codex', 'entireio-git-sync', '0.118-fork-child-compacted.jsonl'),
    });
    await importAll(desk);
    expect(ledgerLines(desk, childId, 'inherited:')).toBe(744);
  });
}

/** A parent of two turns, and its fork of one; every line of the copy has the same time. */
function forked(
  parentLines: number,
  gapMs: number,
): { readonly parent: Uint8Array; readonly child: Uint8Array } {
  const lines = (at: number, step: number): readonly object[] => {
    let ms = at;
    const next = (type: string, payload: object): object => {
      ms += step;
      return rolloutLine(type, payload, ms);
    };
    return [
      next('session_meta', meta('p')),
      next('event_msg', { type: 'task_started', turn_id: 'a' }),
      next('event_msg', { type: 'user_message', message: 'first' }),
      next('event_msg', tokens(usage(10, 1), usage(10, 1))),
      next('response_item', message('assistant', 'answer one')),
      next('event_msg', { type: 'task_complete', turn_id: 'a' }),
      next('event_msg', { type: 'task_started', turn_id: 'b' }),
      next('event_msg', { type: 'user_message', message: 'second' }),
      next('response_item', message('assistant', 'answer two')),
    ];
  };
  const header = rolloutLine('session_meta', meta('c', { forked_from_id: 'p' }), 90_000_000);
  const own = [
    rolloutLine('event_msg', { type: 'user_message', message: 'own words' }, 90_000_000 + gapMs),
    rolloutLine('response_item', message('assistant', 'own answer'), 90_000_000 + gapMs + 1),
    rolloutLine('event_msg', tokens(usage(30, 3), usage(20, 2)), 90_000_000 + gapMs + 2),
  ];
  return {
    parent: linesOf(...lines(0, 1_000).slice(0, parentLines)),
    child: linesOf(header, ...lines(90_000_000, 0), ...own),
  };
}

const forks: readonly (readonly [name: string, parentLines: number, gapMs: number, inherited: number])[] = [
  // The copy ends inside a turn of the parent: the burst alone would take that turn for an own one.
  ['inside a turn, behind a pause', 9, 5_000, 9],
  ['inside a turn, within the same second', 9, 20, 9],
  // What the stored parent does not have yet cannot be told from own lines but by the burst.
  ['from a parent that is stored in part', 4, 5_000, 6],
];

test.each(forks)('a fork %s begins behind what it copied', async (_name, parentLines, gapMs, inherited) => {
  const { parent, child } = forked(parentLines, gapMs);
  const desk = makeThreadDesk();
  plantFiles(desk, { 'p.jsonl': parent, 'c.jsonl': child });
  await importAll(desk);
  expect(ledgerLines(desk, 'codex-c', 'inherited:')).toBe(inherited);
  const own = ownOf(desk, 'codex-c');
  expect(own.filter(({ type }) => type === 'run.answer')).toMatchObject([{ usage: { input_tokens: 20 } }]);
  expect(own.some((event) => member(event, 'content', '0', 'text') === 'own words')).toBe(true);
});
