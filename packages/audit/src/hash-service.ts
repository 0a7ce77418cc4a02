import { parentPort } from 'node:worker_threads';
import { TurnlogError } from '@turnlog/kernel';
import type { TreeHead } from '@turnlog/log/tree';
import { BlockReader, type BlocksFound, type PassedBlock } from './leaf-block.js';
import type { LeavesWanted } from './leaf-tree.js';

/** What the thread that reads a log asks of the one that hashes its leaves. */
export type HashRequest =
  | { readonly kind: 'begin'; readonly wanted: LeavesWanted; readonly digestTo: number | null }
  | { readonly kind: 'restart'; readonly head: TreeHead }
  | { readonly kind: 'block'; readonly block: PassedBlock }
  | { readonly kind: 'end' };

/** What it says: first that it is there, then of each block that it is done with it, then what it found. */
export type HashAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly memory: SharedArrayBuffer }
  | { readonly kind: 'found'; readonly found: BlocksFound };

/** Carries out requests, in whichever thread. */
export class HashService {
  #blocks = new BlockReader({}, null);

  /** Null where nothing has to be said. */
  answer(request: HashRequest): HashAnswer | null {
    switch (request.kind) {
      case 'begin':
        this.#blocks = new BlockReader(request.wanted, request.digestTo);
        return null;
      case 'restart':
        this.#blocks.restart(request.head);
        return null;
      case 'block':
        this.#blocks.take(request.block);
        return { kind: 'done', memory: request.block.memory };
      case 'end':
        return { kind: 'found', found: this.#blocks.found() };
    }
  }
}

/**
 * Serves the thread that has started this one; the module that such a thread runs calls this and nothing else.
 *
 * @throws TURNLOG_INTERNAL in a thread that nobody started.
 */
export function serveHashes(): void {
  const port = parentPort;
  if (port === null) {
    throw new TurnlogError('TURNLOG_INTERNAL', { details: {}, message: 'this is no thread of its own' });
  }
  const service = new HashService();
  const tell = (answer: HashAnswer): void => port.postMessage(answer);
  port.on('message', (request: HashRequest) => {
    const answer = service.answer(request);
    if (answer !== null) tell(answer);
  });
  tell({ kind: 'ready' });
}
