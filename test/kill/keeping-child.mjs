/*
 * One of two processes at one session of a store. `write` appends its records FIRST to LAST, each in a transaction or
 * in a handle of its own, and says `ack N` once one is durable; `remove` moves the session to the trash again and
 * again, until a file `stop` lies beside the store, and says `removed NAME`.
 */
import { existsSync } from 'node:fs';
import { deleteSession, openStore } from '../../packages/store/dist/index.js';
import { note, realMachine, tell } from './machine.mjs';

const [work, root, first, last] = process.argv.slice(2);
const store = await openStore({ root, environment: realMachine(), cwd: '/', env: {} });

async function write(count) {
  if (count % 2 === 0) {
    await store.transaction('s-1', (log) => log.append(note(`r-${count}`)), { waitMs: 60_000 });
    return;
  }
  const session = await store.open('s-1', { waitMs: 60_000 });
  try {
    session.append(note(`r-${count}`));
  } finally {
    await session.close();
  }
}

tell('open', 0);
if (work === 'write') {
  for (let count = Number(first); count <= Number(last); count += 1) {
    await write(count);
    tell('ack', count);
  }
}
while (work === 'remove' && !existsSync(`${root}.stop`)) {
  try {
    const { trash } = await deleteSession(store, 's-1');
    tell('removed', trash);
  } catch (error) {
    // Held by the writer, or not there at the moment.
    if (error.code !== 'TURNLOG_LOCKED' && error.code !== 'TURNLOG_NOT_FOUND') throw error;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
