import { answer, restart, text, threadA, user } from './claude-lines.js';
import { linesOf } from './stream-lines.js';
import { eventsOf, importOne, makeThreadDesk } from './thread-files.js';

test('a file that grows by a row with the figures of one that was imported is imported, and says them once', async () => {
  restart();
  const rows = [
    user('look'),
    answer('A', text('one')),
    answer('B', text('two')),
    // Late: rows of another answer stand before it, and its figures are those of the first row.
    answer('A', text('three')),
    answer('C', text('four')),
  ];
  const desk = makeThreadDesk();
  await importOne(desk, linesOf(...rows.slice(0, 3)), { final: false });
  const grown = await importOne(desk, linesOf(...rows));
  expect([grown.outcome, grown.error]).toEqual(['grown', null]);
  const answers = eventsOf(desk, `claude-${threadA}`).filter(({ type }) => type === 'run.answer');
  expect(answers.map(({ answer_id }) => answer_id)).toEqual(['A', 'B', 'C']);
});
