// A small agent that takes everything from outside: model, tools, clock, ids and log. The same code runs live, while it
// is recorded, and against a fixture.

export async function fixLogin({ model, tool, clock, ids, log, target = 'src/login.ts' }) {
  log.append({ type: 'turn.started' });
  const text = await call({ tool, ids, log }, 'read_file', { path: target });
  let answer = '';
  for await (const delta of model({ messages: [`Fix this:\n${text}`] })) answer += delta;
  await call({ tool, ids, log }, 'write_file', { path: target, text: answer });
  await Promise.all([tool('run', { command: 'lint' }), tool('run', { command: 'test' })]);
  await clock.sleep(3_600_000); // a nightly check, at once in a replay
  const item = { id: ids.next('agent_message'), type: 'agent_message', text: `Fixed ${target}.` };
  log.append({ type: 'item.completed', item });
  log.append({ type: 'turn.completed', usage: { input_tokens: 120, output_tokens: 40 } });
}

async function call({ tool, ids, log }, name, args) {
  const item = { id: ids.next('tool_invocation'), type: 'tool_invocation', tool_name: name, arguments: args };
  log.append({ type: 'item.completed', item: { ...item, status: 'completed' } });
  return await tool(name, args);
}
