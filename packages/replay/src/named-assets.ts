import { isSha256Hex } from '@turnlog/log';
import { type StoredValue, storedMember, storedString } from './stored-value.js';

/** The digests of the blobs that values name, each once, in order. */
export function namedAssets(values: Iterable<StoredValue>): readonly string[] {
  const found = new Set<string>();
  for (const value of values) note(value, found);
  return [...found].sort();
}

function note(value: StoredValue, found: Set<string>): void {
  const pending: StoredValue[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'array') pending.push(...next.items);
    if (next.kind !== 'object') continue;
    const sha256 = storedString(next, 'sha256');
    if (storedString(next, 'type') === 'asset' && isSha256Hex(sha256)) found.add(sha256);
    const asset = storedMember(next, 'asset');
    if (asset?.kind === 'string' && isSha256Hex(asset.text)) found.add(asset.text);
    pending.push(...next.members.values());
  }
}
