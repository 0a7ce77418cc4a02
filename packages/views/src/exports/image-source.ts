import { isTurnlogError, limits } from '@turnlog/kernel';
import { AssetStore, type Store } from '@turnlog/store';
import type { ImageSource } from './html.js';

/** Types that a page shows and that hold no markup. */
const shownTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** No images: assets are named. */
export const noImages: ImageSource = () => null;

/** The images of a store, as data in the page. One that is missing, damaged or too large is named instead. */
export function imagesOf(store: Store): ImageSource {
  const assets = new AssetStore(store.environment, store.root);
  return (sha256, mediaType) => {
    if (!shownTypes.has(mediaType)) return null;
    try {
      const bytes = assets.read(sha256);
      if (bytes.length > limits.inlineImageBytesMax) return null;
      return `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`;
    } catch (error) {
      if (!isTurnlogError(error)) throw error;
      return null;
    }
  };
}
