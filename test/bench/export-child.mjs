// One export in a process of its own; prints its time and its peak memory. Arguments: root, id, variant or `empty`.

import { makeDocument } from './export-document.mjs';

const [root, id, variant] = process.argv.slice(2);
let heap = 0;
let chunks = 0;
const look = () => {
  chunks += 1;
  if (chunks % 64 === 1) heap = Math.max(heap, process.memoryUsage().heapUsed);
};
look();
const { ms } = variant === 'empty' ? { ms: 0 } : await makeDocument(root, id, variant, look);
process.stdout.write(JSON.stringify({ ms, heap, rss: process.resourceUsage().maxRSS * 1_024 }));
