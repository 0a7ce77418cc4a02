// Code under test: does what the session `s-1` of the tests did. `other` says something else, `dial` opens a socket.

async function turn({ model, tool, log }, words) {
  log.append({ type: 'turn.started' });
  log.append({
    type: 'user.message',
    id: 'm1',
    origin: 'prompt',
    content: [{ type: 'text', text: 'Please fix „Köln“.' }],
  });
  const { items } = await model({});
  const { id, type, command } = items[0];
  log.append({ type: 'item.started', item: { id, type, command, status: 'in_progress' } });
  try {
    await tool('command_execution', { command });
  } catch ({ message, code }) {
    const item = { id, type, command, aggregated_output: message, exit_code: code, status: 'failed' };
    log.append({ type: 'item.completed', item });
  }
  const answer = await model({});
  const item = { ...answer.items[0], ...words };
  log.append({ type: 'item.completed', item });
  log.append({ type: 'turn.completed', usage: { input_tokens: 0, output_tokens: 0 } });
}

exports.run = (player) => turn(player, {});
exports.other = (player) => turn(player, { text: 'It is broken.' });
exports.fail = () => {
  throw new RangeError('out of range');
};
exports.dial = async () => {
  await fetch('http://127.0.0.1:49151/');
};
