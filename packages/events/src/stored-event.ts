/**
 * An event as a log stores it. Folds that need few events of many ask for the type first, and for the bytes only
 * where exact numbers matter: the records of the log have this form.
 */
export interface StoredEvent {
  readonly type: string;
  /** The bytes of the event object. */
  eventBytes(): Uint8Array;
}
