// Code under test that appends as many turns as its fixture has; in the second one it says something else.

exports.run = ({ log, description }) => {
  const { firstTurn } = description.source;
  for (let turn = firstTurn; turn < firstTurn + description.counts.turns; turn += 1) {
    log.append({ type: 'turn.started' });
    const text = turn === 2 ? 'other' : `turn ${turn}`;
    log.append({ type: 'item.completed', item: { id: `i${turn}`, type: 'agent_message', text } });
    log.append({ type: 'turn.completed', usage: {} });
  }
};
