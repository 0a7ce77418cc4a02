// Builds one healthy log of a given number of records, in the buffered class, and closes it.

import { openOwnedLog } from '../../packages/log/dist/index.js';
import { createTurns } from './generate.mjs';

/** A log in `directory` with at least `recordCount` records, and at least `byteCount` bytes. */
export async function buildLog(env, directory, { recordCount = 0, byteCount = 0 }) {
  const log = await openOwnedLog(env, directory, 's-bench', { durability: 'buffered' });
  const next = createTurns();
  while (log.lastSeq < recordCount || log.state.length < byteCount) {
    for (const event of next()) log.append(event);
  }
  const { length, lifecycle } = log.state;
  const found = { bytes: length, records: log.lastSeq, turns: lifecycle.turnCount };
  await log.close();
  return found;
}
