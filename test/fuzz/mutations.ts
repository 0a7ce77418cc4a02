import type { SeededRandom } from '@turnlog/testkit';

/**
 * Changes of bytes that are lines of JSON, of the kinds that happen: bits flip, pieces are lost, doubled and pushed
 * into each other, line ends change, texts and numbers grow, values are nested.
 */
type Mutation = (bytes: Buffer, random: SeededRandom) => Buffer;

/** No input grows beyond this, however often it is doubled. */
const bytesMax = 262_144;

const lineFeed = 0x0a;

function at(bytes: Buffer, random: SeededRandom): number {
  return bytes.length === 0 ? 0 : random.below(bytes.length);
}

/** Some stretch of the bytes, most often a short one. */
function stretch(bytes: Buffer, random: SeededRandom): readonly [from: number, to: number] {
  const from = at(bytes, random);
  const lengthMax = random.below(4) === 0 ? bytes.length - from : Math.min(32, bytes.length - from);
  return [from, from + (lengthMax === 0 ? 0 : 1 + random.below(lengthMax))];
}

/** The line around some place, its 0x0A included. */
function line(bytes: Buffer, random: SeededRandom): readonly [from: number, to: number] {
  const inside = at(bytes, random);
  const from = inside === 0 ? 0 : bytes.lastIndexOf(lineFeed, inside - 1) + 1;
  const end = bytes.indexOf(lineFeed, inside);
  return [from, end === -1 ? bytes.length : end + 1];
}

function replaced(bytes: Buffer, from: number, to: number, ...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([bytes.subarray(0, from), ...parts, bytes.subarray(to)]);
}

function pick<Value>(random: SeededRandom, values: readonly Value[]): Value {
  const value = values[random.below(values.length)];
  if (value === undefined) throw new Error('there is nothing to choose from');
  return value;
}

const tokens: readonly string[] = [
  'null',
  'true',
  '-0',
  '1e400',
  '18446744073709551616',
  '9007199254740993',
  '-1',
  '0',
  '""',
  '"\\ud800"',
  '"\\u0000"',
  '[]',
  '{}',
  '{"__proto__":{"x":1}}',
  '"seq":1,',
  '"event":{"type":"turn.started"}',
  '{"schema_version":"0.18.0","seq":1,"event":{"type":"turn.started"}}',
];

const lineEnds: readonly string[] = [
  '\n',
  '\r\n',
  '\r',
  '\n\n',
  '\u2028',
  '\u0085',
  '\0',
  '\ufeff',
  ' ',
  '\t\n',
];

const kinds: readonly Mutation[] = [
  function flip(bytes, random) {
    const copy = Buffer.from(bytes);
    const place = at(bytes, random);
    copy[place] = (copy[place] ?? 0) ^ (1 << random.below(8));
    return copy;
  },
  function insert(bytes, random) {
    const place = at(bytes, random);
    return replaced(bytes, place, place, random.bytes(1 + random.below(8)));
  },
  function remove(bytes, random) {
    return replaced(bytes, ...stretch(bytes, random));
  },
  function double(bytes, random) {
    const [from, to] = stretch(bytes, random);
    return replaced(bytes, to, to, bytes.subarray(from, to));
  },
  function doubleLine(bytes, random) {
    const [from, to] = line(bytes, random);
    return replaced(bytes, to, to, bytes.subarray(from, to));
  },
  function moveLine(bytes, random) {
    const [from, to] = line(bytes, random);
    const rest = replaced(bytes, from, to);
    const [place] = line(rest, random);
    return replaced(rest, place, place, bytes.subarray(from, to));
  },
  function splice(bytes, random) {
    const [from, to] = stretch(bytes, random);
    const place = at(bytes, random);
    return replaced(bytes, place, place, bytes.subarray(from, to));
  },
  function cut(bytes, random) {
    return bytes.subarray(0, at(bytes, random));
  },
  function behead(bytes, random) {
    return bytes.subarray(at(bytes, random));
  },
  function joinLines(bytes, random) {
    const end = bytes.indexOf(lineFeed, at(bytes, random));
    return end === -1 ? bytes : replaced(bytes, end, end + 1);
  },
  function changeLineEnd(bytes, random) {
    const end = bytes.indexOf(lineFeed, at(bytes, random));
    const place = end === -1 ? bytes.length : end;
    return replaced(bytes, place, Math.min(place + 1, bytes.length), Buffer.from(pick(random, lineEnds)));
  },
  function zeros(bytes, random) {
    const [from, to] = stretch(bytes, random);
    return replaced(bytes, from, to, Buffer.alloc(random.below(2) === 0 ? to - from : 512));
  },
  function noise(bytes, random) {
    const [from, to] = stretch(bytes, random);
    return replaced(bytes, from, to, random.bytes(to - from));
  },
  function growString(bytes, random) {
    const quote = bytes.indexOf(0x22, at(bytes, random));
    if (quote === -1) return bytes;
    const text = pick(random, ['x', '\\u00e9', '\u{1f680}', '\\\\', '{"']).repeat(1 + random.below(2_000));
    return replaced(bytes, quote + 1, quote + 1, Buffer.from(text));
  },
  function growNumber(bytes, random) {
    for (let place = at(bytes, random); place < bytes.length; place += 1) {
      const byte = bytes[place] ?? 0;
      if (byte < 0x30 || byte > 0x39) continue;
      return replaced(bytes, place, place, Buffer.from('9'.repeat(1 + random.below(24))));
    }
    return bytes;
  },
  function token(bytes, random) {
    const place = at(bytes, random);
    return replaced(bytes, place, place, Buffer.from(pick(random, tokens)));
  },
  function value(bytes, random) {
    const colon = bytes.indexOf(0x3a, at(bytes, random));
    if (colon === -1) return bytes;
    const rest = /^:("(?:[^"\\\n]|\\.)*"|[^,}\]"\n]+)/.exec(
      bytes.subarray(colon, colon + 400).toString('latin1'),
    );
    if (rest === null) return bytes;
    return replaced(bytes, colon + 1, colon + rest[0].length, Buffer.from(pick(random, tokens)));
  },
  function nest(bytes, random) {
    const colon = bytes.indexOf(0x3a, at(bytes, random));
    if (colon === -1) return bytes;
    const depth = pick(random, [1, 90, 110, 520, 6_000]);
    const opening = `${'['.repeat(depth)}${']'.repeat(depth)},"deep":`;
    return replaced(bytes, colon + 1, colon + 1, Buffer.from(opening));
  },
];

/** `bytes` with a few changes, or none at all. */
export function mutate(bytes: Uint8Array, random: SeededRandom): Buffer {
  let changed = Buffer.from(bytes);
  for (let count = random.below(6); count > 0; count -= 1) {
    const next = pick(random, kinds)(changed, random);
    if (next.length <= bytesMax) changed = Buffer.from(next);
  }
  return changed;
}

/** A few lines of a longer text, whole. */
export function someLines(bytes: Uint8Array, random: SeededRandom, linesMax: number): Buffer {
  const source = Buffer.from(bytes);
  let [from] = line(source, random);
  if (random.below(3) === 0) from = 0;
  let to = from;
  for (let count = 1 + random.below(linesMax); count > 0 && to < source.length; count -= 1) {
    const end = source.indexOf(lineFeed, to);
    to = end === -1 ? source.length : end + 1;
  }
  return source.subarray(from, to);
}
