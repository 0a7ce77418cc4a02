import { watchSources } from '../src/index.js';
import { linesOf } from './stream-lines.js';
import { eventsOf, makeThreadDesk, member, plantFiles } from './thread-files.js';
import { message, meta, rolloutLine } from './thread-samples.js';

function thread(...texts: readonly string[]): Uint8Array {
  return linesOf(
    rolloutLine('session_meta', meta('w'), 0),
    ...texts.map((text) => rolloutLine('response_item', message('assistant', text))),
  );
}

test('a watch imports what is there and what comes, until it is stopped; a wake for nothing changes nothing', async () => {
  const desk = makeThreadDesk();
  plantFiles(desk, { 'w.jsonl': thread('one') });
  const stop = new AbortController();
  const outcomes: string[] = [];
  const steps = [
    () => plantFiles(desk, { 'w.jsonl': thread('one', 'two') }),
    () => plantFiles(desk, { 'other.txt': new TextEncoder().encode('nothing\n') }),
    () => stop.abort(),
  ];
  await watchSources(
    desk.target,
    { sources: [{ path: '/foreign/w.jsonl' }, { path: '/foreign/other.txt' }] },
    {
      signal: stop.signal,
      onReport: (report) => {
        outcomes.push(report.sources.map(({ outcome }) => outcome).join());
        // The next pass is due when the last step is done: the clock of the watch goes on only here.
        setImmediate(() => {
          steps.shift()?.();
          desk.clock.advance(1_000);
        });
      },
    },
  );
  expect(outcomes).toEqual(['failed,new', 'failed,grown', 'failed,unchanged']);
  const texts = eventsOf(desk, 'codex-w').flatMap((event) => member(event, 'item', 'text') ?? []);
  expect(texts).toEqual(['one', 'two']);
});
