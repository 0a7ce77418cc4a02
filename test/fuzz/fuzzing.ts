import { isTurnlogError } from '@turnlog/kernel';
import { SeededRandom } from '@turnlog/testkit';
import { soakBudget, tellFigure } from '../figures.js';

const seed = Number(process.env['TURNLOG_TEST_SEED'] ?? 20_261_005);

/** How many times as many inputs a long run tries as each run does. */
const factor = soakBudget('TURNLOG_FUZZ_FACTOR', 1);

/** One input and what is asked of it; what it returns is shown when something is wrong with it. */
export type FuzzTarget = (random: SeededRandom, tell: (input: Uint8Array) => void) => Promise<void> | void;

const shownBytesMax = 2_000;

/**
 * A test that tries `runs` inputs, each from a seed of its own that follows from that of the whole run. The budget is
 * a count, never a time. A failure names seed, run and input.
 */
export function fuzz(title: string, runs: number, target: FuzzTarget): void {
  const total = runs * factor;
  test(
    title,
    async () => {
      for (let run = 1; run <= total; run += 1) await tryOne(title, run, target);
      tellFigure(`fuzz, ${title}`, `${total} inputs`);
    },
    120_000 + total * 1_000,
  );
}

/** A test that a target known to be wrong is found to be so: inputs that find nothing wrong with it prove nothing. */
export function canary(title: string, runs: number, target: FuzzTarget): void {
  test(`the inputs bite: ${title} is found`, async () => {
    for (let run = 1; run <= runs; run += 1) {
      try {
        await tryOne(title, run, target);
      } catch (error) {
        expect(String(error)).toContain(`run ${run} of seed ${seed}`);
        return;
      }
    }
    throw new Error(`${runs} inputs found nothing wrong`);
  });
}

async function tryOne(title: string, run: number, target: FuzzTarget): Promise<void> {
  let shown = 'none';
  try {
    await target(new SeededRandom(seed + run * 2_654_435_761), (input) => {
      shown = Buffer.from(input.subarray(0, shownBytesMax)).toString('base64');
    });
  } catch (cause) {
    const why = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    throw new Error(`${title}: run ${run} of seed ${seed}, input (base64) ${shown}\n${why}`, { cause });
  }
}

/** What `work` gives; null when it was refused with an error of the closed list. Any other failure is passed on. */
export function orRefused<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    if (isTurnlogError(error) && error.code !== 'TURNLOG_INTERNAL') return null;
    throw error;
  }
}

/** As `orRefused`, for what takes a while. */
export async function orRefusedLater<Result>(work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work();
  } catch (error) {
    if (isTurnlogError(error) && error.code !== 'TURNLOG_INTERNAL') return null;
    throw error;
  }
}
