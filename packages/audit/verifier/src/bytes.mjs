// Bytes, texts and hashes with nothing but what every runtime of JavaScript has: Node 20 and browsers alike.

/** Ends what cannot go on: something is no pack, no signature or no proof. */
export const fail = (reason) => {
  throw new Error(reason);
};

/** The most that a line, and a pack, may have. */
export const bytesMax = 67_108_864;

// A byte-order mark is part of a text unless it opens a file, so the decoder must not pass over it.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export const decode = (bytes) => decoder.decode(bytes);
export const encode = (text) => new TextEncoder().encode(text);
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
export const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
export const unbase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
export const hasMark = (bytes) => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

export function concat(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  parts.reduce((at, part) => whole.set(part, at) ?? at + part.length, 0);
  return whole;
}

export const digest = async (name, bytes) => new Uint8Array(await crypto.subtle.digest(name, bytes));
export const sha256 = async (bytes) => hex(await digest('SHA-256', bytes));

export const isSigned = async (key, data, signature) =>
  crypto.subtle.verify('Ed25519', await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']), signature, data);

export const isText = (value) => typeof value === 'string';
export const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
export const isHash = (value) => isText(value) && /^[0-9a-f]{64}$/.test(value);
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of a JSON text; undefined where it is none. */
export function parsed(bytes) {
  try {
    return JSON.parse(decode(bytes));
  } catch (error) {
    return error instanceof SyntaxError ? undefined : fail(error.message);
  }
}
