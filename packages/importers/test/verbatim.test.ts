import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importVtcode } from '../src/index.js';
import {
  makeDesk,
  plantSource,
  readerOf,
  sessionsDirectory,
  sourceDirectory,
  withoutFirstLine,
} from './vtcode-files.js';

const wire = join(__dirname, '..', '..', '..', 'test', 'golden', 'wire');

const logs: readonly (readonly [title: string, name: string, markBytes: number, tornBytes: number])[] = [
  ['C-5, C-52 golden.jsonl', 'golden.jsonl', 0, 0],
  ['C-5, C-52 odd.jsonl', 'odd.jsonl', 3, 124],
];

// Import is the one way by which lines are copied so far. A byte-order mark is no part of the first line, and behind
// our own first line it would make that line unreadable.
test.each(logs)(
  '%s is imported byte for byte: order of members, digits, repeats, half pairs and damage',
  async (_title, name, markBytes, tornBytes) => {
    const bytes = readFileSync(join(wire, name));
    const desk = makeDesk();
    plantSource(desk, bytes);
    const report = await importVtcode(desk.target, sourceDirectory);
    expect(report.state).toBe('new');
    const sessionId = String(report.sessionId);
    expect(
      Buffer.from(withoutFirstLine(desk, sessionId)).equals(
        bytes.subarray(markBytes, bytes.length - tornBytes),
      ),
    ).toBe(true);
    if (tornBytes > 0) {
      const index = join(sessionsDirectory, sessionId, 'index');
      const torn = desk.fs.list(index).filter((entry) => entry.name.startsWith('torn-'));
      expect(torn.length).toBe(1);
      const kept = Buffer.from(desk.fs.contentOf(join(index, torn[0]?.name ?? '')));
      expect(kept.equals(bytes.subarray(bytes.length - tornBytes))).toBe(true);
    }
    const reader = readerOf(desk, sessionId);
    for (const record of reader.records()) {
      if (record.seq > 1) expect(bytes.includes(Buffer.from(record.bytes))).toBe(true);
    }
    reader.close();
  },
);
