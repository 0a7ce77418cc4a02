import type {
  LogPinnedEvent,
  LogPurgedEvent,
  LogRemovedEvent,
  LogRestoredEvent,
  LogUnpinnedEvent,
} from '@turnlog/events';
import { checkDirectory } from '@turnlog/fs';
import { isTurnlogError } from '@turnlog/kernel';
import { EngineEvent, type LogEnvironment, type LogReader, openLogReader, transaction } from '@turnlog/log';
import { ledgerPath, storeNames } from './layout.js';
import { emptyLedger, foldLedger, type LedgerFacts } from './ledger-facts.js';

/** What the store itself says in its ledger. */
export type LedgerEvent =
  | LogPinnedEvent
  | LogUnpinnedEvent
  | LogRemovedEvent
  | LogRestoredEvent
  | LogPurgedEvent;

export interface LedgerAppend {
  /** A retry with the same key and event is stored once. */
  readonly key?: string;
  /** Append only if the ledger still ends here. */
  readonly expectLast?: number;
}

/**
 * The store-wide log at `<root>/ledger/`: facts that outlive a session. Several processes write to it, each in
 * transactions of its own; reading takes no lock and creates nothing.
 */
export class Ledger {
  readonly #environment: LogEnvironment;
  readonly #root: string;

  /** `root` is the absolute path of the root, which must exist once something is appended. */
  constructor(environment: LogEnvironment, root: string) {
    this.#environment = environment;
    this.#root = root;
  }

  /** The ledger as a log; null while nothing was written to it. @throws as `openLogReader`, but for not found */
  reader(): LogReader | null {
    const { fs, ownership } = this.#environment;
    const directory = ledgerPath(this.#root);
    if (fs.status(directory) === null) return null;
    checkDirectory(fs, directory, ownership.uid);
    try {
      return openLogReader(fs, directory, storeNames.ledger);
    } catch (error) {
      // Made a moment ago, by somebody who is about to write.
      if (isTurnlogError(error, 'TURNLOG_NOT_FOUND')) return null;
      throw error;
    }
  }

  /** What it says of pins and removals. Costs what the ledger is long. */
  facts(): LedgerFacts {
    const reader = this.reader();
    if (reader === null) return emptyLedger;
    try {
      return foldLedger(reader.records(), reader.state.order.highestSeq);
    } finally {
      reader.close();
    }
  }

  /**
   * Appends one fact; it is durable when the promise resolves.
   *
   * @throws TURNLOG_STALE_HEAD when the ledger has grown past `expectLast`; TURNLOG_KEY_CONFLICT, LOCKED, IO.
   */
  async append(event: LedgerEvent, options: LedgerAppend = {}): Promise<void> {
    const directory = ledgerPath(this.#root);
    await transaction(this.#environment, directory, storeNames.ledger, (log) =>
      log.append(new EngineEvent(event), options),
    );
  }
}
