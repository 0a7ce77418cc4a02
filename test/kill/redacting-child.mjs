/*
 * Appends turns to a log with a small cap and redacts one of the notes that are there, in archives or in the log, over
 * and over, until it is killed. Says `ack NAME:SEQ` once a note is durable, `try SEQ` before a redaction, `written` when
 * all of it is written and nothing replaced, and `gone SEQ` when it is done.
 */
import { historyLeaves, openOwnedLog, redactLog } from '../../packages/log/dist/index.js';
import { note, realMachine, tell } from './machine.mjs';

const [directory, cycle] = process.argv.slice(2);
const machine = realMachine();

/** One of the notes that are left: the oldest, the newest, or one between, by turns. */
function decide(reader, count) {
  const left = [...historyLeaves(machine.fs, reader)].filter(({ record }) => record.type === 'x.test.note');
  const leaf = left[[0, left.length - 1, Math.floor(left.length / 2)][count % 3]];
  if (leaf === undefined) return null;
  tell('try', leaf.record.seq);
  const said = { reason: 'secret', actor: 'child' };
  const statement = {
    type: 'log.redaction',
    indexes: [leaf.index],
    leaves: [leaf.record.leaf()],
    ...said,
  };
  return { statement, targets: [{ ...leaf, ...said }], seq: leaf.record.seq };
}

for (let count = 0; ; count += 1) {
  const log = await openOwnedLog(machine, directory, 's-1', { cap: { maxEvents: 24, target: 0.5 } });
  for (const name of [`${cycle}-${count}a`, `${cycle}-${count}b`]) {
    log.append({ raw: '{"type":"turn.started"}' });
    const { seq } = log.append(note(name));
    log.append({ raw: '{"type":"turn.completed","usage":{}}' });
    tell('ack', `${name}:${seq}`);
  }
  await log.maintain();
  await log.close();
  let order = null;
  const choose = (reader) => {
    order = decide(reader, count);
    return order;
  };
  await redactLog(machine, directory, 's-1', choose, { beforeReplace: async () => tell('written') });
  if (order !== null) tell('gone', order.seq);
}
