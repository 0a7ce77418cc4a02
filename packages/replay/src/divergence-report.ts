import { limits } from '@turnlog/kernel';
import type { Egress } from '@turnlog/store';
import { type CompareRules, type Comparison, compareStored } from './compare.js';
import {
  type Divergence,
  type DivergenceKind,
  headlineOf,
  shownDifferences,
  shownValue,
} from './divergence.js';
import type { Expectations } from './expectations.js';
import { type Exchange, nameOf } from './fixture.js';
import { isMatch, type Matching, type Request } from './matching.js';
import type { SourceRecord } from './source-record.js';
import { type StoredValue, storedMember, storedString } from './stored-value.js';

export interface ReportBasis {
  /** As the caller named it, for the command that does it again. */
  readonly directory: string;
  readonly name: string;
  readonly records: readonly SourceRecord[];
  readonly rules: CompareRules;
  readonly egress: Egress;
  readonly matching: Matching;
  readonly expectations: Expectations;
}

interface Found {
  readonly kind: DivergenceKind;
  readonly exchange?: Exchange | null;
  readonly record?: SourceRecord | null;
  readonly expected: StoredValue | undefined;
  readonly got: StoredValue | undefined;
  readonly comparison?: Comparison;
  readonly nearest?: Divergence['nearest'];
}

/** Says what diverged where. It only looks; who asks decides what that means. */
export class DivergenceReport {
  readonly #basis: ReportBasis;
  #cause: Divergence['cause'] = null;

  constructor(basis: ReportBasis) {
    this.#basis = basis;
  }

  /** Notes what was served last. */
  served({ endSeq, startSeq }: Exchange): void {
    this.#cause = { seq: endSeq ?? startSeq, why: 'the last served exchange before this point' };
  }

  /** A request to a port that the fixture has not, or after the end. */
  closed(request: Request): Divergence {
    return this.#divergence({ kind: 'port-closed', expected: undefined, got: request.request });
  }

  /** A stream is read on where its recording ends. */
  readOn(exchange: Exchange): Divergence {
    return this.#divergence({
      kind: 'port-closed',
      exchange,
      expected: exchange.response ?? undefined,
      got: undefined,
    });
  }

  /** A request that is none of those that may come now. */
  unmatched(request: Request): Divergence {
    const { matching, rules } = this.#basis;
    const next = matching.next();
    const nearest = this.#nearest(request);
    if (next === null)
      return this.#divergence({
        kind: 'unexpected-call',
        expected: undefined,
        got: request.request,
        nearest,
      });
    const kind = this.#kindOf(request, next);
    const expected = next;
    const comparison = compareStored(expected.request, request.request, rules);
    const diff = kind === 'unexpected-call' ? {} : { comparison };
    return this.#divergence({
      kind,
      exchange: expected,
      expected: expected.request,
      got: request.request,
      nearest,
      ...diff,
    });
  }

  /** A request that was served although it is another one. */
  different(exchange: Exchange, request: Request): Divergence {
    const comparison = compareStored(exchange.request, request.request, this.#basis.rules);
    return this.#divergence({
      kind: 'request-differs',
      exchange,
      expected: exchange.request,
      got: request.request,
      comparison,
    });
  }

  eventDiffers(record: SourceRecord, got: StoredValue): Divergence {
    const comparison = compareStored(record.event, got, this.#basis.rules);
    return this.#divergence({ kind: 'event-differs', record, expected: record.event, got, comparison });
  }

  unexpectedEvent(got: StoredValue): Divergence {
    return this.#divergence({ kind: 'unexpected-event', expected: undefined, got });
  }

  /** What was left at the end: whichever should have come first. */
  left(exchange: Exchange | null, record: SourceRecord | null): Divergence {
    const isCall = exchange !== null && (record === null || (exchange.startSeq ?? 0) <= record.seq);
    return isCall
      ? this.#divergence({ kind: 'missing-call', exchange, expected: exchange.request, got: undefined })
      : this.#divergence({ kind: 'missing-event', record, expected: record?.event, got: undefined });
  }

  /** Called too early or too late, once too often, with something else, or never recorded at all. */
  #kindOf(request: Request, next: Exchange): DivergenceKind {
    const { matching } = this.#basis;
    const unplayed = matching.unplayed();
    if (unplayed.some((exchange) => !exchange.isDerived && isMatch(exchange, request))) return 'wrong-order';
    const isLike = (exchange: Exchange): boolean =>
      exchange.port === request.port && nameOf(exchange.request) === nameOf(request.request);
    if (matching.wasPlayed(request)) return 'unexpected-call';
    const group = matching.groupOf(next).filter((exchange) => !matching.isPlayed(exchange));
    return group.some(isLike) ? 'request-differs' : 'unexpected-call';
  }

  #nearest({ port, request }: Request): Divergence['nearest'] {
    const { matching, rules } = this.#basis;
    let nearest: Divergence['nearest'] = null;
    for (const exchange of matching.unplayed()) {
      if (exchange.port !== port || exchange.isDerived) continue;
      const distance = compareStored(exchange.request, request, rules).differences.length;
      if (nearest === null || distance < nearest.distance) nearest = { exchange: exchange.n, distance };
    }
    return nearest;
  }

  #divergence(found: Found): Divergence {
    const { name, egress, expectations } = this.#basis;
    const { comparison, exchange = null } = found;
    const record = found.record ?? this.#recordOf(exchange);
    const seq = record?.seq ?? exchange?.startSeq ?? null;
    const before = expectations.before(limits.divergenceRecordsBefore);
    return {
      schema_version: 1,
      kind: found.kind,
      fixture: name,
      at: {
        seq,
        exchange: exchange?.n ?? null,
        turn: record?.turn ?? null,
        item: record === null ? null : storedString(storedMember(record.event, 'item'), 'id'),
      },
      expected: shownValue(found.expected, egress),
      got: shownValue(found.got, egress),
      diff: comparison === undefined ? [] : shownDifferences(comparison, egress),
      diff_truncated: comparison?.isTruncated ?? false,
      cause: this.#causeOf(before),
      before: before.map((each) => ({ seq: each.seq, headline: headlineOf(each.event, egress) })),
      nearest: found.nearest ?? null,
      rerun: `turnlog replay ${this.#basis.directory}${seq === null ? '' : ` --until ${seq}`}`,
    };
  }

  #recordOf(exchange: Exchange | null): SourceRecord | null {
    if (exchange === null || exchange.startSeq === null) return null;
    return this.#basis.records.find(({ seq }) => seq === exchange.startSeq) ?? null;
  }

  /** The exchange that was served last, or what the user said since. */
  #causeOf(before: readonly SourceRecord[]): Divergence['cause'] {
    const input = before.findLast(({ type }) => type === 'user.message');
    if (input === undefined || (this.#cause?.seq ?? 0) > input.seq) return this.#cause;
    return { seq: input.seq, why: 'the last input before this point' };
  }
}
