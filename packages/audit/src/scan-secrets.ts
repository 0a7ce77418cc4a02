import type { FileSystem } from '@turnlog/kernel';
import { historyLeaves, type LogReader, type LogRecord } from '@turnlog/log';
import { createRedactor, type RedactionKindName, type Redactor, redactionKindNames } from '@turnlog/store';
import { isRedactable } from './redaction-plan.js';

/** A record in which something was found that may have to go. */
export interface RedactionCandidate {
  readonly record: LogRecord;
  /** What was found, by kind. */
  readonly kinds: readonly RedactionKindName[];
  /** Whether the log can do without it. */
  readonly isRedactable: boolean;
}

/** What to look for. */
export interface SecretSearch {
  /** Kinds of secrets that Turnlog knows; `user` stands for the patterns of the configuration. */
  readonly kinds: readonly RedactionKindName[];
  /** Patterns in the language of the configuration. */
  readonly patterns: readonly string[];
  /** Those of the configuration, looked for where `kinds` has `user`. */
  readonly configured: readonly string[];
}

/** Reads what somebody asks to be looked for: names of kinds, and patterns. */
export function secretSearch(texts: readonly string[], configured: readonly string[]): SecretSearch {
  const isKind = (text: string): text is RedactionKindName =>
    redactionKindNames.some((name) => name === text);
  return { kinds: texts.filter(isKind), patterns: texts.filter((text) => !isKind(text)), configured };
}

/** Looks for secrets in records, each kind by itself, through the redactor that everything leaves a store by (AU-26). */
export class SecretScan {
  readonly #finders: readonly (readonly [kind: RedactionKindName, redactor: Redactor])[];

  /** @throws TURNLOG_BAD_CONFIG for a pattern that cannot be used. */
  constructor({ kinds, patterns, configured }: SecretSearch) {
    const userPatterns = [...patterns, ...(kinds.includes('user') ? configured : [])];
    const named: readonly RedactionKindName[] = kinds.filter((kind) => kind !== 'user');
    const all: readonly RedactionKindName[] = userPatterns.length === 0 ? named : [...named, 'user'];
    this.#finders = all.map((kind) => [
      kind,
      // Nothing that it replaces is shown, so its marks may be anybody's.
      createRedactor({ key: new Uint8Array(32), userPatterns, kinds: [kind] }),
    ]);
  }

  /** Records of the whole history, archived ones included. */
  *candidates(fs: FileSystem, reader: LogReader): Iterable<RedactionCandidate> {
    for (const { record } of historyLeaves(fs, reader)) {
      if (record.type === 'log.redacted') continue;
      const kinds = this.#kindsIn(record);
      if (kinds.length > 0) yield { record, kinds, isRedactable: isRedactable(record.type) };
    }
  }

  #kindsIn(record: LogRecord): readonly RedactionKindName[] {
    const bytes = record.eventBytes();
    return this.#finders.filter(([, redactor]) => redactor.jsonBytes(bytes).changed).map(([kind]) => kind);
  }
}
