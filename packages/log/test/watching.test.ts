import { type LibraryWatcher, type WatchLibrary, type WatchWarning, watchPath } from '@turnlog/fs';
import { follow, LogFollower } from '@turnlog/log';
import { note, TestLog } from './support.js';

/** A watching library that does what a test says, or fails as a loaded system makes it fail. */
class FakeLibrary implements WatchLibrary {
  readonly listeners: (() => void)[] = [];
  readonly #fails: string | null;

  constructor(fails: string | null) {
    this.#fails = fails;
  }

  watch(): LibraryWatcher {
    if (this.#fails !== null) throw Object.assign(new Error('no more watches'), { code: this.#fails });
    return {
      on: (event: 'all' | 'error', listener: (error: unknown) => void) => {
        if (event === 'all') this.listeners.push(() => listener(undefined));
      },
      close: () => Promise.resolve(),
    };
  }

  fire(): void {
    for (const listener of this.listeners) listener();
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('T-89, B22, B115, B116, B117, B118, B119, B120 a watcher only wakes: size and offset decide', () => {
  const systems: readonly (readonly [name: string, fails: string | null, wakes: number, warnings: number])[] =
    [
      ['T-89 the watcher misses every event', null, 0, 0],
      ['T-89 the watcher fires twice for each', null, 2, 0],
      ['T-89 EMFILE', 'EMFILE', 0, 1],
      ['T-89 the watch limit of the system', 'ENOSPC', 0, 1],
    ];

  test.each(systems)(
    '%s: every record once, at most one warning, appends unaffected',
    async (_name, fails, wakes, warningCount) => {
      const log = new TestLog();
      const writer = await log.open({ durability: 'event' });
      writer.append(note(0));
      const library = new FakeLibrary(fails);
      const warnings: WatchWarning[] = [];
      let wake: () => void = () => undefined;
      const watch = watchPath({
        fs: log.fs,
        clock: log.clock,
        path: log.path('events.jsonl'),
        onWake: () => wake(),
        onWarning: (warning) => warnings.push(warning),
        load: () => Promise.resolve(library),
      });
      const stop = new AbortController();
      const seen: number[] = [];
      const nextWake = (): Promise<void> =>
        new Promise((resolve) => {
          wake = resolve;
        });
      const follower = new LogFollower(log.fs, log.directory, 'case');
      const done = (async () => {
        for await (const record of follow(follower, log.clock, { signal: stop.signal, wake: nextWake }))
          seen.push(record.seq);
      })();
      await settle();
      for (let index = 1; index <= 20; index += 1) {
        expect(writer.append(note(index)).seq).toBe(index + 1);
        for (let time = 0; time < wakes; time += 1) library.fire();
        if (index % 5 === 0) log.clock.advance(250);
        await settle();
      }
      log.clock.advance(250);
      await settle();
      expect(seen).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
      expect(warnings.length).toBe(warningCount);
      for (const warning of warnings) expect(warning.reason).toBe('watch-limit');
      stop.abort();
      log.clock.advance(250);
      await Promise.all([done, watch.close(), writer.close()]);
    },
  );
});
