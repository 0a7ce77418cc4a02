// One import, or one reading by hand, in a process of its own; prints its time and its peak memory. Arguments: root
// of a new store, file, what to do: `asset` or `reference` as the raw mode of the import, `parse`, or `empty`.

import { importFile, parseLines } from './import-file.mjs';

const [root, path, action] = process.argv.slice(2);
let heap = 0;
const look = () => {
  heap = Math.max(heap, process.memoryUsage().heapUsed);
};

look();
let ms = 0;
if (action === 'parse') {
  const start = process.hrtime.bigint();
  parseLines(path);
  ms = Number(process.hrtime.bigint() - start) / 1e6;
} else if (action !== 'empty') {
  ({ ms } = await importFile(root, path, { raw: action, onProgress: look }));
}
look();
process.stdout.write(JSON.stringify({ ms, heap, rss: process.resourceUsage().maxRSS * 1_024 }));
