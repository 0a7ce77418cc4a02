import { limits } from '@turnlog/kernel';
import { isCount, isSha256Hex, isText, ownMembers } from '@turnlog/log';
import type { LeafRecord } from './log-walk.js';
import type { PackedAsset } from './pack.js';

/** The blobs that the records of a log name, each once. */
export class AssetReferences {
  readonly #assets = new Map<string, PackedAsset>();

  constructor(known: readonly PackedAsset[] = []) {
    for (const asset of known) this.#assets.set(asset.sha256, asset);
  }

  note(record: LeafRecord): void {
    // Most records name none: their values are not built.
    if (!record.hasAssetWord) return;
    const pending: unknown[] = [record.readEvent()];
    for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
      if (typeof value !== 'object' || value === null) continue;
      if (!Array.isArray(value)) this.#noteObject(value);
      for (const inner of Object.values(value)) if (typeof inner === 'object') pending.push(inner);
    }
  }

  /** By digest. */
  list(): readonly PackedAsset[] {
    return [...this.#assets.values()].sort((left, right) => (left.sha256 < right.sha256 ? -1 : 1));
  }

  #noteObject(value: object): void {
    const found = ownMembers({ ...value });
    if (found === null) return;
    const { type, sha256, bytes, media_type: mediaType, asset } = found;
    if (type === 'asset' && isSha256Hex(sha256)) {
      this.#add({
        sha256,
        bytes: isCount(bytes) ? bytes : null,
        mediaType: isText(mediaType) ? mediaType : null,
      });
    }
    // An imported file that was kept names the blobs it was cut into.
    if (isSha256Hex(asset)) this.#add({ sha256: asset, bytes: null, mediaType: null });
  }

  #add(asset: PackedAsset): void {
    if (this.#assets.size < limits.packEntriesMax && !this.#assets.has(asset.sha256)) {
      this.#assets.set(asset.sha256, asset);
    }
  }
}
