import { TurnlogError } from '@turnlog/kernel';
import type { Exchange } from './fixture.js';
import type { Fixture } from './read-fixture.js';

export interface TurnRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Turns a to b of a fixture, with the exchanges that begin in them. Records keep their numbers, exchanges get new ones.
 *
 * @throws TURNLOG_TURN_NOT_FOUND when it does not hold them.
 */
export function partOf(fixture: Fixture, { from, to }: TurnRange): Fixture {
  const { description } = fixture;
  const records = fixture.records.filter(({ turn }) => turn !== null && turn >= from && turn <= to);
  const turns = new Set(records.map(({ turn }) => turn));
  for (const turn of [from, to]) {
    if (!turns.has(turn)) {
      throw new TurnlogError('TURNLOG_TURN_NOT_FOUND', {
        details: { fixture: description.name, turn },
        message: `${description.name} has no turn ${turn}`,
      });
    }
  }
  const seqs = new Set(records.map(({ seq }) => seq));
  const kept = fixture.exchanges.filter(({ startSeq }) => startSeq !== null && seqs.has(startSeq));
  const numbers = new Map(kept.map(({ n }, position) => [n, position + 1] as const));
  const gaps = description.gaps
    .filter(({ seq, turn, exchange }) => {
      const isThere = (seq === null || seqs.has(seq)) && (turn === null || turns.has(turn));
      return isThere && (exchange === null || numbers.has(exchange));
    })
    .map((gap) => ({ ...gap, exchange: numbers.get(gap.exchange ?? 0) ?? null }));
  const exchanges = renumbered(kept, seqs);
  return {
    ...fixture,
    records,
    exchanges,
    description: {
      ...description,
      source: {
        ...description.source,
        fromSeq: records[0]?.seq ?? 0,
        toSeq: records.at(-1)?.seq ?? 0,
        firstTurn: from,
      },
      counts: { records: records.length, turns: turns.size, exchanges: exchanges.length },
      complete: gaps.length === 0,
      gaps,
    },
  };
}

function renumbered(exchanges: readonly Exchange[], seqs: ReadonlySet<number>): readonly Exchange[] {
  const ends = [...exchanges].sort((left, right) => left.end - right.end);
  const places = new Map(ends.map((exchange, position) => [exchange, position + 1]));
  return exchanges.map((exchange, position) => {
    const { endSeq } = exchange;
    return {
      ...exchange,
      n: position + 1,
      end: places.get(exchange) ?? position + 1,
      endSeq: endSeq !== null && seqs.has(endSeq) ? endSeq : null,
    };
  });
}
