import { assert } from './assert.js';

declare const brand: unique symbol;

/** A number or text that must not be mixed up with another of the same machine type. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };

/** A checked session id; see `parseSessionId` of the store. */
export type SessionId = Brand<string, 'SessionId'>;
/** Logical number of a record: from 1, +1 per record, never used again. */
export type Seq = Brand<number, 'Seq'>;
/** Number of a turn: from 1, +1 per turn, never used again. */
export type TurnNumber = Brand<number, 'TurnNumber'>;
/** Position in bytes from the start of the present file. */
export type ByteOffset = Brand<number, 'ByteOffset'>;
/** Size in bytes. */
export type ByteCount = Brand<number, 'ByteCount'>;
/** How many records. */
export type EventCount = Brand<number, 'EventCount'>;
/** Which rewrite of a file: 32 lower-case hex digits, random. */
export type Generation = Brand<string, 'Generation'>;

function assertCount(value: number, name: string): void {
  assert(Number.isSafeInteger(value) && value >= 0, `${name} must be a whole number from 0, not ${value}`);
}

/** A seq; 0 stands for "before the first record". */
export function seq(value: number): Seq {
  assertCount(value, 'seq');
  return value as Seq;
}

/** A turn number; 0 stands for "before the first turn". */
export function turnNumber(value: number): TurnNumber {
  assertCount(value, 'turn number');
  return value as TurnNumber;
}

/** A position in bytes from the start of a file. */
export function byteOffset(value: number): ByteOffset {
  assertCount(value, 'byte offset');
  return value as ByteOffset;
}

/** A size in bytes. */
export function byteCount(value: number): ByteCount {
  assertCount(value, 'byte count');
  return value as ByteCount;
}

/** A number of records. */
export function eventCount(value: number): EventCount {
  assertCount(value, 'event count');
  return value as EventCount;
}

const generationForm = /^[0-9a-f]{32}$/;

/** Whether `text` is the name of a generation: 32 lower-case hex digits. */
export function isGeneration(text: string): text is Generation {
  return generationForm.test(text);
}
