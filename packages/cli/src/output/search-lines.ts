import type { FacetValues, ListPlace, SearchAnswer, SearchHit } from '@turnlog/search';
import type { Output } from './output.js';
import { fitShown, type Shown } from './shown.js';

/** Hits for people: where each stands, who said it, and the lines that say most. */
export function searchLines(answer: SearchAnswer, output: Output): readonly Shown[] {
  const lines = answer.hits.flatMap((hit, position) => [
    ...(position === 0 ? [] : [output.shown``]),
    ...hitLines(hit, output),
  ]);
  return answer.facets === undefined ? lines : [...lines, ...facetLines(answer, output)];
}

function hitLines(hit: SearchHit, output: Output): readonly Shown[] {
  const { shown, words, wallClock } = output;
  const who = hit.tool === null ? `${hit.role} ${hit.kind}` : `${hit.role} ${hit.kind} ${hit.tool}`;
  const more = hit.hits_in_session === undefined ? '' : `  ${hit.hits_in_session} in this session`;
  const head = shown`${output.paint('strong', hit.id)}  ${wallClock.dateTime(hit.ts)}  ${output.paint('cyan', who)}${more}`;
  const text = hit.snippet.text
    .split('\n')
    .map((line) => fitShown(shown`  ${words.line(line)}`, output.columns));
  return [head, ...text, ...explanationLines(hit, output)];
}

function explanationLines({ explain }: SearchHit, { shown }: Output): readonly Shown[] {
  if (explain === undefined) return [];
  const parts = explain.terms.map(
    ({ term, as, tf, df, part }) => shown`    ${rounded(part)}  ${term} (${as}, ${tf} here, in ${df} chunks)`,
  );
  const { lexical, recency, score, tier, lists, fused } = explain;
  const places = Object.entries<ListPlace>({ ...lists }).map(
    ([name, { rank, share }]) => shown`    ${rounded(share)}  ${name} list, place ${rank}`,
  );
  return [
    ...parts,
    shown`    ${rounded(score)} = ${rounded(lexical)} × ${rounded(recency.factor)} for its age, tier ${tier}`,
    ...places,
    ...(fused === undefined ? [] : [shown`    ${rounded(fused)} of all lists`]),
  ];
}

function rounded(value: number): string {
  return value.toFixed(4);
}

/** The most frequent values of each facet that are shown. */
const facetValuesShown = 5;

function facetLines({ facets }: SearchAnswer, { shown }: Output): readonly Shown[] {
  if (facets === undefined) return [];
  return [
    shown``,
    ...Object.entries<FacetValues>({ ...facets }).flatMap(([name, values]) => {
      const most = values.slice(0, facetValuesShown).map(({ value, count }) => `${value} ${count}`);
      return most.length === 0 ? [] : [shown`${name}: ${most.join(', ')}`];
    }),
  ];
}

/** How far the answer goes, and what it lacks. */
export function searchNotes(answer: SearchAnswer, { shown }: Output): readonly Shown[] {
  const { total, hits, hidden_matches: hidden, behind, degraded } = answer;
  const notes: Shown[] = [];
  if (answer.reason !== null)
    notes.push(shown`nothing to search for: the query holds no word, number or sign`);
  else if (total.relation === 'gte') notes.push(shown`${hits.length} of more than ${total.value} matches`);
  else notes.push(shown`${hits.length} of ${total.value} matches`);
  if (answer.next_cursor !== null) notes.push(shown`more; say --cursor ${answer.next_cursor}`);
  if (hidden > 0)
    notes.push(shown`${hidden} hidden matches (programs, sub-agents, context); say --include-hidden`);
  if (answer.unknown_time > 0) notes.push(shown`${answer.unknown_time} matches of unknown time are left out`);
  // Without a record in them they are damage, or a line that is being written: no waiting brings them in.
  if (behind.bytes > 0 && behind.events !== 0)
    notes.push(
      shown`the index is ${behind.bytes} bytes behind in ${behind.sessions} sessions; say --wait 30s`,
    );
  if (answer.capped) notes.push(shown`the query stands for more words than are searched; its rarest were`);
  if (answer.partial) notes.push(shown`not all could be looked at in time`);
  for (const { name, reason } of degraded) notes.push(shown`without ${name}: ${reason}`);
  return notes;
}
