// Reading a log: its lines end with 0x0A, and each is a record, or damage, or pieces of both.

import { bytesMax, decode, hasMark, isCount, isHash, isObject, isText, parsed, unhex } from './bytes.mjs';
import { fits, shapes } from './shapes.mjs';
import { emptyTree, leafHash, ones } from './tree.mjs';

const nesting = { '{': 1, '[': 1, ']': -1, '}': -1 };
// Names with what they stand before, other texts, and what nests.
const form = /("(?:[^"\\]|\\.)*?")[ \t\r]*:[ \t\r]*(\d+(?![\d.eE]))?|"(?:[^"\\]|\\.)*?"|[{}[\]]/g;
const identifying = new Set(['schema_version', 'seq', 'ts', 'key', 'salt', 'event', 'event.type']);

/**
 * The whole numbers of the record and of its event, as they are written: `1.0` is none. Null when a member that
 * identifies the record is there twice, because then two readers could see two records.
 */
function numbersIn(text) {
  const [numbers, names] = [new Map(), []];
  let depth = 0;
  for (const [token, name, number = ''] of text.matchAll(form)) {
    depth += nesting[token] ?? 0;
    if (name === undefined || depth > 2) continue;
    names.splice(depth - 1, 2, JSON.parse(name));
    const place = names.join('.');
    if (numbers.has(place) && identifying.has(place)) return null;
    numbers.set(place, number);
  }
  return numbers;
}

/** The record that these bytes are, or the name of what they are instead. */
function recordIn(bytes, start, end) {
  const value = parsed(bytes.subarray(start, end));
  if (value === undefined) return 'unreadable';
  const { schema_version: version, event } = isObject(value) ? value : {};
  if (!isText(version) || !isObject(event) || !isText(event.type)) return 'not-a-record';
  const numbers = numbersIn(decode(bytes.subarray(start, end)));
  if (numbers === null) return 'duplicate-key';
  if (shapes.has(`@${event.type}`) && !fits(`@${event.type}`, { ...event, numbers })) return 'lifecycle';
  // Only what the engine itself wrote is looked at again.
  const kept = event.type.startsWith('log.') ? event : { type: event.type };
  const seq = Number(numbers.get('seq') ?? '');
  return { start, end, event: kept, seq: isCount(seq) && seq > 0 ? seq : null };
}

/** The pieces of a line that is no record as a whole: records that go on from before, and damage. */
function salvaged(bytes, start, cuts, isEnded, highestSeq) {
  const ends = cuts.filter((cut) => cut > start);
  if (ends.length === 0) return [];
  const found = ends.reduce((record, end) => (record?.event ? record : recordIn(bytes, start, end)), null);
  const kind = ends.length > 1 || isEnded ? 'fused-stub' : 'torn-tail';
  const piece = found.seq > highestSeq ? found : { start, end: ends.at(-1), kind };
  return [piece, ...salvaged(bytes, piece.end, cuts, isEnded, piece.seq ?? highestSeq)];
}

function piecesOf(bytes, start, end, isEnded, highestSeq) {
  const zeroCount = bytes.subarray(start, end).findIndex((byte) => byte !== 0);
  const at = zeroCount === -1 ? end : start + zeroCount;
  const zeros = at > start ? [{ start, end: at, kind: 'nul-run' }] : [];
  if (at === end && (at > start || !isEnded)) return zeros;
  // Every byte is a character, so that places in the text are places in the bytes.
  const text = end - start > bytesMax ? '' : new TextDecoder('latin1').decode(bytes.subarray(at, end));
  const isJudged = /[^ \t\r]/.test(text);
  const found = isJudged ? recordIn(bytes, at, end) : end - start > bytesMax ? 'too-long' : 'blank';
  if (found.event) return [...zeros, found];
  // Where a record may begin inside of a broken line.
  const heads = [...text.matchAll(/\{"schema_version":/g)];
  const cuts = heads.length > 64 ? [] : [end, ...heads.map(({ index }) => at + index).reverse()];
  const pieces = salvaged(bytes, at, cuts, isEnded, highestSeq);
  return [...zeros, ...(pieces.some(({ event }) => event) ? pieces : [{ start: at, end, kind: isEnded ? found : 'torn-tail' }])];
}

/** Adjacent damage of one kind is one place. */
function noteDamage(damage, { start: offset, end, kind }) {
  const last = damage.at(-1);
  if (last?.kind === kind && offset - last.end <= 1) last.end = end;
  else damage.push({ offset, end, kind });
}

/**
 * Records and damage of a log, in the order of the file. Where it was cut there is the header that it begins with, and
 * what of the tree came `before`. The `index` of a record counts those that have left the log as well.
 */
export function readLog(bytes) {
  const log = { header: null, before: emptyTree, records: [], damage: [] };
  let [highest, isFirst] = [0, true];
  const note = ({ start: offset, end, event, seq: stated }) => {
    const isHeader = isFirst && event.type === 'log.evicted';
    const seq = stated === null || (stated - highest > 2 ** 32 && !isHeader) ? Math.min(highest + 1, 2 ** 53 - 1) : stated;
    [highest, isFirst] = [Math.max(highest, seq), false];
    if (!isHeader) log.records.push({ index: log.before.size + log.records.length, offset, end, seq, event });
    else if (fits('header', event) && event.tree.frontier.length === ones(event.tree.size))
      [log.header, log.before] = [event, event.tree];
  };
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(0x0a, at);
    const end = found === -1 ? bytes.length : found;
    const pieces = piecesOf(bytes, at === 0 && hasMark(bytes) ? 3 : at, end, found !== -1, highest);
    for (const piece of pieces) piece.event ? note(piece) : noteDamage(log.damage, piece);
    at = end + 1;
  }
  return log;
}

/** The leaf of a record; a redacted one stands for the line that it replaced. */
const leafOf = (bytes, { offset, end, event }) =>
  event.type === 'log.redacted' && isHash(event.leaf) ? unhex(event.leaf) : leafHash(bytes.subarray(offset, end));

export const leavesOf = async (bytes, { records }) => Promise.all(records.map((record) => leafOf(bytes, record)));
