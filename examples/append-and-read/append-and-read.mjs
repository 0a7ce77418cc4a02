import { openStore } from 'turnlog';

const store = await openStore({ root: process.argv[2] ?? '.turnlog-example' });

const session = await store.open('my-agent-1');
session.append({ type: 'turn.started' });
session.append({
  type: 'item.completed',
  item: { id: 'item-1', type: 'agent_message', text: 'Hello from turn one.' },
});
session.append({ type: 'turn.completed', usage: { input_tokens: 12, output_tokens: 5 } });
await session.close(); // from here on a power cut loses none of it

const reader = store.read('my-agent-1');
for (const record of reader.readTurn(1)) process.stdout.write(`${record.seq} ${record.type}\n`);
reader.close();

const [listed] = await store.list();
process.stdout.write(`${listed?.id}: turns ${listed?.turns}, events ${listed?.events}\n`);
