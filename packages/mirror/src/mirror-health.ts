import { isTurnlogError } from '@turnlog/kernel';
import { fileStatus, isOfThisFormat, type MirrorPlace, openDatabase, walBytesOf } from './mirror-file.js';
import { walBytesMax } from './pragmas.js';
import { sqliteCodeOf } from './sqlite-port.js';

/** How the mirror's files look. `broken` means that building it anew is the remedy. */
export interface MirrorHealth {
  readonly state: 'absent' | 'sound' | 'broken';
  /** One sentence when it is broken; null otherwise. */
  readonly reason: string | null;
  /** Bytes of its write-ahead log, and whether that is more than it should ever be. */
  readonly walBytes: number;
  readonly isWalTooLong: boolean;
}

/** Opens the mirror for reading and asks SQLite for a quick look; a log that is too long is not read. */
export function mirrorHealth(place: MirrorPlace): MirrorHealth {
  try {
    if (fileStatus(place.env, place.path) === null) return health('absent', null, 0);
    const walBytes = walBytesOf(place);
    if (walBytes > walBytesMax) return health('sound', null, walBytes);
    const reason = quickLook(place);
    return health(reason === null ? 'sound' : 'broken', reason, walBytes);
  } catch (error) {
    if (!isTurnlogError(error) && sqliteCodeOf(error) === null) throw error;
    return health('broken', error instanceof Error ? error.message : String(error), 0);
  }
}

function health(state: MirrorHealth['state'], reason: string | null, walBytes: number): MirrorHealth {
  return { state, reason, walBytes, isWalTooLong: walBytes > walBytesMax };
}

function quickLook(place: MirrorPlace): string | null {
  const database = openDatabase(place, place.path, 'read-only');
  try {
    const answer = database.prepare<{ readonly quick_check: string }>('PRAGMA quick_check(1)').get();
    if (answer?.quick_check !== 'ok') return answer?.quick_check ?? 'SQLite does not answer';
    return isOfThisFormat(database) ? null : 'it is of another format';
  } finally {
    database.close();
  }
}
