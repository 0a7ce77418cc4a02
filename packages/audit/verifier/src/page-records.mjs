// What became of each record, from what the verification found.

/** The states, with a sign and a tone beside the word: no state is told by its colour alone. */
export const states = {
  intact: { word: 'intact', sign: '✓', tone: 'good' },
  redacted: { word: 'redacted', sign: '▬', tone: 'open' },
  unexplained: { word: 'taken out', sign: '✕', tone: 'bad' },
  evicted: { word: 'evicted', sign: '⇤', tone: 'open' },
  edited: { word: 'edited from here', sign: '≠', tone: 'bad' },
  behind: { word: 'behind the edit', sign: '?', tone: 'open' },
  unproven: { word: 'not proven', sign: '?', tone: 'open' },
  grown: { word: 'came after the pack', sign: '+', tone: 'open' },
  damaged: { word: 'damaged', sign: '!', tone: 'bad' },
  gone: { word: 'gone', sign: '✕', tone: 'bad' },
};

const notes = {
  redacted: (seq) => `explained by the record with seq ${seq}`,
  unexplained: () => 'no later record says why',
  before: () => 'like its mark in the pack, which proves nothing',
};

/** The state of the record at leaf `index`, and a word more where there is one. */
function stateOf(index, found, redacted, edit) {
  const { size, root, recomputed } = found.tree ?? { size: null };
  if (size !== null && index >= size) return ['grown', ''];
  const said = redacted.get(index);
  if (said !== undefined)
    return said.statement_seq === null ? ['unexplained', notes.unexplained()] : ['redacted', notes.redacted(said.statement_seq)];
  if (size !== null && root === recomputed) return ['intact', ''];
  if (edit === null) return ['unproven', ''];
  return index === edit ? ['edited', ''] : index < edit ? ['unproven', notes.before()] : ['behind', ''];
}

/** A row for each record and each damaged place, in the order of the file, and for what is not in it any more. */
export function rowsOf(found, log) {
  const first = log.header?.tree.size ?? 0;
  const redacted = new Map((found.tree?.redacted ?? []).map((each) => [each.index, each]));
  const content = found.mismatches.find(({ reason, path }) => reason === 'content' && path === 'events.jsonl');
  const edit = content?.index ?? null;
  const records = log.records.map(({ offset, end, seq, event }, at) => {
    const [state, note] = stateOf(first + at, found, redacted, edit);
    return { index: first + at, seq, type: event.type, offset, end, state, note };
  });
  const damage = log.damage.map(({ offset, end, kind }) => ({ type: kind, offset, end, state: 'damaged', note: kind }));
  const rows = [...records, ...damage].sort((left, right) => left.offset - right.offset);
  const evicted = {
    type: 'log.evicted',
    offset: 0,
    end: 0,
    state: 'evicted',
    note: `leaves 0 to ${first - 1} have left the file`,
  };
  const gone = {
    type: '',
    offset: 0,
    end: 0,
    state: 'gone',
    note: `${content?.leaves_gone} packed records are gone from the end`,
  };
  return [...(first > 0 ? [evicted] : []), ...rows, ...(content?.leaves_gone > 0 ? [gone] : [])];
}

export const meanings = {
  verified: 'Every packed record is there, unchanged or redacted with a statement, and so is every other packed file.',
  mismatch: 'Something is not as it was packed. What differs is listed below.',
  missing: 'Something that was packed is not there any more.',
  unproven: 'What evicted records are proved by is not there, so nothing can be said of them.',
  'invalid-pack': 'There is no pack that could be believed, so nothing was compared.',
  'bad-signature': 'A signature does not fit, or the one that is asked for is not there. Do not rely on this pack.',
};

export const assurances = {
  'self-attested': 'nobody signed, so the pack speaks for itself',
  'signed-unknown-key': 'signed by a key that you did not give',
  'signed-trusted-key': 'signed by a key that you trust',
  witnessed: 'signed by several keys that you trust',
};
