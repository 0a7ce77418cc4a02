// How everything is measured: all variants on the same data in one process, warmed up, in an order that rotates,
// several times; medians and quartiles, and the ratio to a named reference of the same run.

/** The value below which `part` of the sorted numbers lie. */
export function quantile(sorted, part) {
  const at = (sorted.length - 1) * part;
  const low = sorted[Math.floor(at)];
  return low + (sorted[Math.ceil(at)] - low) * (at - Math.floor(at));
}

export function summary(values) {
  const sorted = [...values].sort((left, right) => left - right);
  return {
    median: quantile(sorted, 0.5),
    lower: quantile(sorted, 0.25),
    upper: quantile(sorted, 0.75),
    count: sorted.length,
  };
}

/** p50, p95, p99 and the longest of single calls. */
export function latencies(values) {
  const sorted = Float64Array.from(values).sort();
  return {
    p50: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    max: sorted.at(-1),
  };
}

/**
 * Runs each variant `warmUps` times unmeasured, then `repetitions` times, beginning with another one each time.
 * A variant is `{name, run}`; `run` returns the milliseconds of what is to be measured and may be async. `collects`:
 * whether garbage is collected before each, which also makes code that was compiled for speed go.
 */
export async function rotate(variants, { repetitions, warmUps = 1, collects = true }) {
  const times = new Map(variants.map(({ name }) => [name, []]));
  for (let round = -warmUps; round < repetitions; round += 1) {
    for (let place = 0; place < variants.length; place += 1) {
      const { name, run } =
        variants[(((round + place) % variants.length) + variants.length) % variants.length];
      if (collects) globalThis.gc?.();
      const ms = await run();
      if (round >= 0) times.get(name).push(ms);
    }
  }
  return times;
}

/** Milliseconds that `work` took. */
export function timed(work) {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/**
 * Rows of rates: `amounts[unit] / time` for each unit, the first one with quartiles, and the ratio of the first
 * to that of each named reference.
 */
export function rateRows(times, amounts, references) {
  const units = Object.entries(amounts);
  const [[, firstAmount]] = units;
  const rate = (name) => summary(times.get(name).map((ms) => (firstAmount / ms) * 1_000));
  return [...times.keys()].map((name) => {
    const first = rate(name);
    const rates = Object.fromEntries(
      units.map(([unit, amount]) => [unit, (first.median / firstAmount) * amount]),
    );
    const ratios = Object.fromEntries(
      references.map((reference) => [`× ${reference}`, first.median / rate(reference).median]),
    );
    return {
      variant: name,
      ...rates,
      quartiles: `${Math.round(first.lower)}–${Math.round(first.upper)}`,
      n: first.count,
      ...ratios,
    };
  });
}
