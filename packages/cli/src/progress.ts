import type { Clock } from '@turnlog/kernel';
import type { Arguments } from './arguments.js';
import * as flags from './flags.js';
import type { Io } from './io.js';
import type { Output } from './output/output.js';
import type { Shown } from './output/shown.js';

/** How far some work has come. */
export interface ProgressState {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly unit: string;
}

export type ProgressMode = 'none' | 'bar' | 'json';

/** Work that is over sooner shows nothing. */
const quietMs = 1_000;
/** At most ten updates a second. */
const pauseMs = 100;
const barWidthMax = 30;

/** Whether and how progress is shown: a bar at a terminal that may have one, lines of JSON where they are asked for. */
export function progressMode(io: Io, args: Arguments): ProgressMode {
  if (args.has(flags.noProgressFlag) || args.has(flags.quietFlag)) return 'none';
  if (args.get(flags.progressFlag) === 'json') return 'json';
  const isSet = (name: string): boolean => (io.env[name] ?? '') !== '';
  const isPlain = isSet('CI') || isSet('NO_COLOR') || io.env['TERM'] === 'dumb';
  return io.isTty.stderr && !isPlain ? 'bar' : 'none';
}

/** Tells how far work has come, on stderr. It is asked for by the work, and shows nothing between two questions. */
export class Progress {
  readonly #output: Output;
  readonly #clock: Clock;
  readonly #mode: ProgressMode;
  readonly #startMs: number;
  #shownMs: number;
  #telling: Promise<void> = Promise.resolve();

  constructor(output: Output, clock: Clock, mode: ProgressMode) {
    this.#output = output;
    this.#clock = clock;
    this.#mode = mode;
    this.#startMs = clock.monotonicMs();
    this.#shownMs = this.#startMs + quietMs - pauseMs;
  }

  update(state: ProgressState): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#mode === 'none' || state.total <= 0 || nowMs - this.#shownMs < pauseMs) return;
    this.#shownMs = nowMs;
    const { words } = this.#output;
    if (this.#mode === 'json') this.#then(() => this.#output.tell(words.json({ progress: { ...state } })));
    else this.#then(() => this.#output.status(barLine(this.#output, state, nowMs - this.#startMs)));
  }

  /** Takes away what is shown. */
  async end(): Promise<void> {
    this.#then(() => this.#output.status(null));
    await this.#telling;
  }

  /** One after the other, and none that is waited for by the work. */
  #then(tell: () => Promise<void>): void {
    this.#telling = this.#telling.then(tell);
  }
}

function barLine({ shown, words, columns }: Output, state: ProgressState, elapsedMs: number): Shown {
  const { phase, done, total, unit } = state;
  const share = Math.min(Math.max(done / total, 0), 1);
  const percent = `${String(Math.floor(share * 100)).padStart(3)}%`;
  const amount =
    unit === 'bytes' ? `${bytesText(done)} of ${bytesText(total)}` : `${done} of ${total} ${unit}`;
  const leftMs = share === 0 ? null : (elapsedMs / share) * (1 - share);
  const left = leftMs === null ? '' : `, ${durationText(leftMs)} left`;
  const facts = `${percent} ${amount}${left}`;
  const room = Math.min(columns, 120) - 1 - phase.length - facts.length - 4;
  const width = Math.min(room, barWidthMax);
  if (width < 5) return words.line(`${phase} ${percent}`);
  const filled = Math.round(share * width);
  return shown`${phase} [${'#'.repeat(filled)}${' '.repeat(width - filled)}] ${facts}`;
}

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** In units of 1,000. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let at = 0;
  while (value >= 1_000 && at < units.length - 1) {
    value /= 1_000;
    at += 1;
  }
  return `${at === 0 ? value : value.toFixed(1)} ${units[at] ?? 'B'}`;
}

function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
