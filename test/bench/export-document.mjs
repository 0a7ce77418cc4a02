// One export, made and thrown away.

import { createHash } from 'node:crypto';
import { createRedactor, openStore, passThrough } from '../../packages/store/dist/index.js';
import { exportSession } from '../../packages/views/dist/index.js';

/** Variants by name: the format, and whether secrets are looked for. */
export const exportVariants = {
  html: { format: 'html', isRedacted: true },
  'html, not redacted': { format: 'html', isRedacted: false },
  md: { format: 'md', isRedacted: true },
  jsonl: { format: 'jsonl', isRedacted: true },
  'jsonl, not redacted': { format: 'jsonl', isRedacted: false },
  'jsonl, raw': { format: 'jsonl', isRedacted: false, options: { raw: true } },
};

/** Makes the document of session `id` in the store at `root`; returns its length in bytes. */
export async function makeDocument(root, id, name, look = () => undefined) {
  const { format, isRedacted, options = {} } = exportVariants[name];
  const redactor = isRedacted ? createRedactor({ key: createHash('sha256').digest() }) : passThrough;
  const store = await openStore({ root });
  const document = exportSession({ store, id, format, redactor, options });
  const start = process.hrtime.bigint();
  let bytes = 0;
  for (const chunk of document) {
    bytes += Buffer.byteLength(chunk);
    look();
  }
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  return { ms, bytes, report: document.report };
}
