import { ownList, ownMember, ownText } from '../internal/members.js';
import type { ShownAsset } from './blocks.js';

const digest = /^[0-9a-f]{64}$/;

/** The assets among the parts of a message or an output. What is no digest names nothing. */
export function shownAssets(owner: unknown): readonly ShownAsset[] {
  return ownList(owner, 'content').flatMap((part): readonly ShownAsset[] => {
    const sha256 = ownText(part, 'sha256');
    if (ownText(part, 'type') !== 'asset' || sha256 === null || !digest.test(sha256)) return [];
    const bytes = ownMember(part, 'bytes');
    return [
      {
        sha256,
        name: ownText(part, 'name') ?? '',
        mediaType: ownText(part, 'media_type') ?? '',
        bytes: typeof bytes === 'number' && Number.isFinite(bytes) ? `${bytes} bytes` : 'of unknown length',
      },
    ];
  });
}
