import { limits, TurnlogError } from '@turnlog/kernel';
import type { Replace } from './redaction-context.js';
import { jsonEdits, unitBytes, withEdits } from './redaction-json.js';
import {
  highEntropyKind,
  type RedactionKind,
  type RedactionKindName,
  redactionListVersion,
  standardRedactionKinds,
} from './redaction-kinds.js';
import { KeyedDigest, type MarkOf } from './redaction-mark.js';
import { compileUserPattern } from './redaction-pattern.js';
import { createReplace } from './redaction-replace.js';
import { valueWithout } from './redaction-value.js';

/** Text on its way out of a store, and whether anything in it was replaced. */
export interface EgressText {
  readonly text: string;
  readonly changed: boolean;
}

export interface EgressBytes {
  readonly bytes: Uint8Array;
  readonly changed: boolean;
}

interface EgressVerbs {
  /** A decoded text: a title, a path, a message, the output of a tool. Whole, before anything cuts or wraps it. */
  text(text: string): string;
  /** A JSON value; of the same shape, with strings and members' names replaced, numbers as they are. */
  value<Json>(json: Json): Json;
  /** One JSON text; what needs no change keeps its bytes. What is no JSON is treated as text. */
  jsonText(text: string): EgressText;
  /** As `jsonText`, for one line of a log: bytes that are no UTF-8 stay too. */
  jsonBytes(bytes: Uint8Array): EgressBytes;
}

/** Takes secrets out of all that leaves a store. Running it twice changes nothing more. */
export interface Redactor extends EgressVerbs {
  readonly type: 'redactor';
}

/** Lets everything out as it is: somebody asked for that, and the metadata of the output must say so. */
export interface PassThrough extends EgressVerbs {
  readonly type: 'pass-through';
}

/** What every way out of a store is handed; which of the two it is, is its type. */
export type Egress = Redactor | PassThrough;

export interface RedactorOptions {
  /**
   * The key of the store, see `openRedactionKey`; as a function it is asked for once, when the first secret is found,
   * so that who reads a store without one leaves no key behind.
   */
  readonly key: Uint8Array | (() => Uint8Array);
  /** In the language of `compileUserPattern`. */
  readonly userPatterns?: readonly string[];
  readonly highEntropy?: 'on';
  /** Looks for these kinds only; by default for all but the one that is off. */
  readonly kinds?: readonly RedactionKindName[];
}

/** @throws TURNLOG_BAD_CONFIG for a pattern that cannot be used, or too many of them. */
export function createRedactor(options: RedactorOptions): Redactor {
  const replace = createReplace(kindsOf(options), marksWith(options.key));
  return {
    type: 'redactor',
    text: (text) => replace(text, null),
    value: <Json>(json: Json): Json => valueWithout(json, replace) as Json,
    jsonText: (text) => jsonTextWithout(text, replace),
    jsonBytes: (bytes) => jsonBytesWithout(bytes, replace),
  };
}

function marksWith(key: RedactorOptions['key']): MarkOf {
  let digest: KeyedDigest | null = null;
  return (kind, secret) => {
    digest ??= new KeyedDigest(typeof key === 'function' ? key() : key);
    return digest.markOf(kind, secret);
  };
}

function kindsOf({ userPatterns = [], highEntropy, kinds }: RedactorOptions): readonly RedactionKind[] {
  if (userPatterns.length > limits.userPatternsMax) {
    throw new TurnlogError('TURNLOG_BAD_CONFIG', {
      details: { patternCount: userPatterns.length, patternCountMax: limits.userPatternsMax },
      message: `there are ${userPatterns.length} patterns of the redaction, ${limits.userPatternsMax} are allowed`,
    });
  }
  const users = userPatterns.map((source, position): RedactionKind => {
    const { find } = compileUserPattern(source, position);
    return { name: 'user', find };
  });
  if (kinds !== undefined) {
    return [...standardRedactionKinds, ...users, highEntropyKind].filter(({ name }) => kinds.includes(name));
  }
  return [...standardRedactionKinds, ...users, ...(highEntropy === 'on' ? [highEntropyKind] : [])];
}

function jsonTextWithout(text: string, replace: Replace): EgressText {
  const edits = jsonEdits(unitBytes(text), (start, end) => text.slice(start, end), replace);
  if (edits === null) {
    const replaced = replace(text, null);
    return { text: replaced, changed: replaced !== text };
  }
  return edits.length === 0 ? { text, changed: false } : { text: withEdits(text, edits), changed: true };
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

function jsonBytesWithout(bytes: Uint8Array, replace: Replace): EgressBytes {
  const rawOf = (start: number, end: number): string => decoder.decode(bytes.subarray(start, end));
  const edits = jsonEdits(bytes, rawOf, replace);
  if (edits === null) {
    const text = rawOf(0, bytes.length);
    const replaced = replace(text, null);
    return replaced === text ? { bytes, changed: false } : { bytes: encoder.encode(replaced), changed: true };
  }
  if (edits.length === 0) return { bytes, changed: false };
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (const { start, end, json } of edits) {
    parts.push(bytes.subarray(copied, start), encoder.encode(json));
    copied = end;
  }
  parts.push(bytes.subarray(copied));
  return { bytes: Buffer.concat(parts), changed: true };
}

/** The form that is switched off. It is a type of its own, so that whoever prints can say which one it was. */
export const passThrough: PassThrough = {
  type: 'pass-through',
  text: (text) => text,
  value: (json) => json,
  jsonText: (text) => ({ text, changed: false }),
  jsonBytes: (bytes) => ({ bytes, changed: false }),
};

/** What the metadata of an output say about redaction. */
export interface RedactionFacts {
  readonly redacted: boolean;
  /** Version of the list of kinds; absent when nothing was looked for. */
  readonly redaction_list?: number;
}

export function redactionFacts(egress: Egress): RedactionFacts {
  if (egress.type === 'pass-through') return { redacted: false };
  return { redacted: true, redaction_list: redactionListVersion };
}
