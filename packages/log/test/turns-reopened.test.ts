import { createTestMachine, FakeClock, ModelFileSystem } from '@turnlog/testkit';
import { openOwnedLog } from '../src/owned-log.js';

const usage = '"usage":{}';
const events = {
  thread: '{"type":"thread.started","thread_id":"t"}',
  start: '{"type":"turn.started"}',
  complete: `{"type":"turn.completed",${usage}}`,
  end: `{"type":"thread.completed","thread_id":"t","session_id":"s","subtype":"success","outcome_code":"ok",${usage},"num_turns":1}`,
} as const;

async function writeAndReopen(names: readonly (keyof typeof events)[]): ReturnType<typeof openOwnedLog> {
  const clock = new FakeClock('skips');
  const machine = createTestMachine({ fs: new ModelFileSystem({ clock }), clock });
  const log = await openOwnedLog(machine, '/s-1', 's-1');
  for (const name of names) log.append({ raw: events[name] });
  await log.close();
  return openOwnedLog(machine, '/s-1', 's-1');
}

test('T-55 start, start, complete, reopen: n interrupted, n + 1 completed, and the fast path works', async () => {
  const log = await writeAndReopen(['start', 'start', 'complete']);
  expect(log.report.scan).toBe('none');
  expect(log.state.lifecycle).toMatchObject({ turnCount: 2, open: null, eventCount: 3 });
  expect(log.append({ raw: events.start })).toMatchObject({ seq: 4, turn: 3 });
  await log.close();
});

test('T-56 thread.completed inside the first turn: one interrupted turn, session completed, not empty', async () => {
  const log = await writeAndReopen(['thread', 'start', 'end']);
  expect(log.report).toMatchObject({ isNew: false, scan: 'none' });
  expect(log.state.lifecycle).toMatchObject({ turnCount: 1, open: null, status: 'completed', eventCount: 3 });
  await log.close();
});
