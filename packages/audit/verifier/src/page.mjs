// The page: what is chosen is verified, and what was found is shown. Texts of files become text nodes and nothing else.

import { decode, encode, isSigned, unhex } from './bytes.mjs';
import { verifySession } from './compare.mjs';
import { keysIn } from './pack.mjs';
import { bytesOf, filesDropped, filesInBundle, filesInDirectory, sessionsIn } from './page-files.mjs';
import { assurances, meanings, rowsOf, states } from './page-records.mjs';
import { readLog } from './read-log.mjs';

const byId = (id) => document.getElementById(id);

/** Control characters, and those that change the direction of a text, become visible. */
const visible = (text) =>
  text.replace(
    /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu,
    (character) => `\\u${character.codePointAt(0).toString(16).padStart(4, '0')}`,
  );

function make(name, { text, className, ...members } = {}, ...children) {
  const element = Object.assign(document.createElement(name), members);
  if (className !== undefined) element.className = className;
  element.append(...(text === undefined ? [] : [visible(String(text))]), ...children);
  return element;
}

const pageRows = 100;
const previewBytes = 400;
const chosen = { sessions: [], trusted: [] };
const shown = { rows: [], filtered: [], bytes: new Uint8Array(0), page: 0 };
const tell = (text) => {
  byId('status').textContent = visible(text);
};

/** A key and a signature of RFC 8032, test 1: a browser that does not know them cannot check others. */
const sample = {
  key: unhex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'),
  signature: unhex(
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ),
};
const areSignaturesRead = await isSigned(sample.key, encode(''), sample.signature).catch(() => false);

function fact(name, value, className) {
  return make('div', { className }, make('dt', { text: name }), make('dd', { text: value }));
}

function showFacts(found) {
  const { tree } = found;
  const facts = [
    fact('Assurance', `${found.assurance}: ${assurances[found.assurance]}`, 'wide'),
    fact('Session', found.session_id ?? 'unknown'),
    fact('Packed records', tree?.size ?? 'not told by the pack'),
    fact('Came since', tree?.grown_by ?? 0),
    fact('Evicted', tree?.evicted ?? 0),
    fact('Redacted', tree?.redacted.length ?? 0),
    fact('Completeness', found.completeness),
    fact('Root in the pack', tree?.root ?? 'none', 'wide'),
    fact('Root of these records', tree?.recomputed ?? 'cannot be had', 'wide'),
    fact('SHA-256 of the pack', found.pack_sha256 ?? 'none', 'wide'),
  ];
  if (!areSignaturesRead) facts.unshift(fact('Signatures', 'passed over: this browser does not know Ed25519', 'wide'));
  byId('facts').replaceChildren(...facts);
}

const lists = {
  mismatches: 'Not as packed',
  missing: 'Missing',
  unproven: 'Cannot be proven',
  stale: 'Derived, and older or newer than the log; or an archive, redacted since',
  unaccounted: 'Not in the pack',
};
const itemsShown = 200;

const sentenceOf = (item) =>
  typeof item === 'string'
    ? item
    : [
        item.path ?? 'the session',
        ...Object.entries(item).flatMap(([name, value]) =>
          name === 'path' || value === null ? [] : [`${name.replace('_', ' ')} ${value}`],
        ),
      ].join(', ');

function showFindings(found) {
  const parts = Object.entries(lists).flatMap(([name, title]) => {
    const items = found[name] ?? [];
    if (items.length === 0) return [];
    const list = make('ul', {}, ...items.slice(0, itemsShown).map((item) => make('li', { text: sentenceOf(item) })));
    if (items.length > itemsShown) list.append(make('li', { text: `and ${items.length - itemsShown} more` }));
    return [make('h3', { text: `${title}: ${items.length}` }), list];
  });
  byId('findings').replaceChildren(...parts);
}

/** The bytes of a row as text; a long one is shown whole when it is opened. */
const textOf = ({ offset, end }, length = end - offset) => decode(shown.bytes.subarray(offset, Math.min(end, offset + length)));

function stateCell({ state, note }) {
  const { word, sign, tone } = states[state];
  const cell = make('td', { className: `state ${tone}` }, make('span', { text: sign, ariaHidden: 'true' }), ` ${word}`);
  if (note !== '') cell.append(make('small', { text: note }));
  return cell;
}

function rowOf(row) {
  const preview = visible(textOf(row, previewBytes));
  const details = make('details', {}, make('summary', {}, preview.length > 160 ? `${preview.slice(0, 160)}…` : preview));
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) details.append(make('pre', { text: textOf(row) }));
  });
  const cells = [
    make('td', { className: 'number', text: row.index ?? '' }),
    make('td', { className: 'number', text: row.seq ?? '' }),
    stateCell(row),
    make('td', { className: 'mono', text: row.type }),
    row.end > row.offset ? make('td', {}, details) : make('td'),
  ];
  return make('tr', { className: states[row.state].tone === 'bad' ? 'bad' : '' }, ...cells);
}

function showPage(page) {
  const pages = Math.max(Math.ceil(shown.filtered.length / pageRows), 1);
  shown.page = Math.min(Math.max(page, 0), pages - 1);
  const from = shown.page * pageRows;
  byId('rows').replaceChildren(...shown.filtered.slice(from, from + pageRows).map(rowOf));
  byId('page').textContent = `page ${shown.page + 1} of ${pages}`;
  for (const id of ['first', 'previous']) byId(id).disabled = shown.page === 0;
  for (const id of ['next', 'last']) byId(id).disabled = shown.page === pages - 1;
}

function filter() {
  const [wanted, state] = [byId('search').value.trim().toLowerCase(), byId('state').value];
  const has = (row) => String(row.seq ?? '') === wanted || textOf(row).toLowerCase().includes(wanted);
  shown.filtered = shown.rows.filter((row) => (state === '' || row.state === state) && (wanted === '' || has(row)));
  byId('count').textContent = `${shown.filtered.length} of ${shown.rows.length} rows`;
  showPage(0);
}

async function showRecords(session, found) {
  const bytes = await session.read('events.jsonl');
  byId('log').hidden = bytes === null;
  shown.bytes = bytes ?? new Uint8Array(0);
  shown.rows = rowsOf(found, session.log ?? readLog(shown.bytes));
  const counts = new Map();
  for (const { state } of shown.rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  const options = Object.entries(states).filter(([name]) => counts.has(name));
  byId('state').replaceChildren(
    make('option', { value: '', text: `all (${shown.rows.length})` }),
    ...options.map(([name, { word }]) => make('option', { value: name, text: `${word} (${counts.get(name)})` })),
  );
  byId('search').value = '';
  filter();
}

async function show(session) {
  tell('Reading and hashing…');
  byId('result').hidden = true;
  const found = await verifySession(session, areSignaturesRead ? chosen.trusted : []);
  const isGood = found.verdict === 'verified';
  const verdict = byId('verdict');
  verdict.className = `verdict ${isGood ? 'good' : 'bad'}`;
  verdict.replaceChildren(
    make('span', { className: 'sign', text: isGood ? '✓' : '✕', ariaHidden: 'true' }),
    found.verdict.replace('-', ' '),
  );
  byId('meaning').textContent = visible(
    found.reason === null ? meanings[found.verdict] : `${meanings[found.verdict]} (${found.reason})`,
  );
  showFacts(found);
  showFindings(found);
  await showRecords(session, found);
  byId('result').hidden = false;
  tell(`Done: ${found.verdict.replace('-', ' ')}, ${found.assurance}.`);
  verdict.focus();
}

/** Shows what comes of some work, and what went wrong with it. */
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    byId('result').hidden = true;
    tell(`This could not be read: ${error.message}`);
  }
}

async function take(files) {
  chosen.sessions = sessionsIn(files, areSignaturesRead);
  const names = chosen.sessions.map(({ home }, at) =>
    make('option', { value: String(at), text: home === '' ? 'the one that was chosen' : home }),
  );
  byId('session').replaceChildren(...names);
  byId('which').hidden = names.length < 2;
  await show(chosen.sessions[0]);
}

const onChosen = (id, work) =>
  byId(id).addEventListener('change', ({ target }) => target.files.length > 0 && attempt(() => work(target.files)));
onChosen('directory', (files) => take(filesInDirectory(files)));
onChosen('bundle', async ([file]) => take(await filesInBundle(file)));
onChosen('keys', async ([file]) => {
  chosen.trusted = keysIn(decode(await bytesOf(file)));
  tell(`${chosen.trusted.length} keys are trusted.`);
  const session = chosen.sessions[Number(byId('session').value)];
  if (session !== undefined) await show(session);
});
byId('session').addEventListener('change', ({ target }) => attempt(() => show(chosen.sessions[Number(target.value)])));
byId('filter').addEventListener('submit', (event) => event.preventDefault());
byId('search').addEventListener('input', filter);
byId('state').addEventListener('change', filter);
const turns = { first: () => 0, previous: () => shown.page - 1, next: () => shown.page + 1, last: () => shown.filtered.length };
for (const [id, page] of Object.entries(turns)) byId(id).addEventListener('click', () => showPage(page()));
addEventListener('dragover', (event) => {
  event.preventDefault();
  document.body.classList.add('over');
});
addEventListener('dragleave', () => document.body.classList.remove('over'));
addEventListener('drop', (event) => {
  event.preventDefault();
  document.body.classList.remove('over');
  const item = Array.from(event.dataTransfer.items).find(({ kind }) => kind === 'file');
  return item === undefined ? undefined : attempt(async () => await take(await filesDropped(item)));
});
