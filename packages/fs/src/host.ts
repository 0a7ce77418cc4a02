import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, tmpdir, uptime } from 'node:os';
import type { Host } from '@turnlog/kernel';
import { codeOf } from './file-errors.js';

/** What Linux tells of a process in /proc/<pid>/stat. */
export interface ProcessFacts {
  /** One letter; Z and X have ended and hold nothing any more. */
  readonly state: string;
  /** Clock ticks from the start of the machine to that of the process. */
  readonly start: string;
}

/**
 * This process on this machine. Boot id, namespace and start times are known on Linux; elsewhere they are null
 * and only the presence of a pid is known.
 */
export function createHost(): Host {
  let ownStart: string | null = null;
  return {
    pid: process.pid,
    hostname: hostname(),
    bootId: readText('/proc/sys/kernel/random/boot_id'),
    pidNamespace: readPidNamespace(),
    uid: process.geteuid?.() ?? null,
    isAlive,
    startOf(pid: number): string | null {
      if (pid !== process.pid) return startOf(pid);
      // Asked at each lock, and always the same.
      ownStart ??= startOf(pid);
      return ownStart;
    },
    uptimeMs: readUptime,
    onExit,
  };
}

/**
 * State and start time from the text of a /proc/<pid>/stat. The second field, the name of the program in
 * parentheses, may itself hold spaces and parentheses, so fields are counted from the last one that closes.
 */
export function parseProcessFacts(text: string): ProcessFacts | null {
  const nameEnd = text.lastIndexOf(')');
  if (nameEnd < 0) return null;
  const fields = text
    .slice(nameEnd + 1)
    .trim()
    .split(/\s+/);
  // The first of these is field 3 of the line, the state; the start time is field 22.
  const state = fields[0];
  const start = fields[19];
  return state === undefined || start === undefined ? null : { state, start };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process may not be signalled, but exists.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const facts = readFacts(pid);
  return facts === null || !hasEnded(facts);
}

function startOf(pid: number): string | null {
  return runningFacts(pid)?.start ?? null;
}

function runningFacts(pid: number): ProcessFacts | null {
  const facts = readFacts(pid);
  return facts === null || hasEnded(facts) ? null : facts;
}

function hasEnded(facts: ProcessFacts): boolean {
  return facts.state === 'Z' || facts.state === 'X';
}

function readFacts(pid: number): ProcessFacts | null {
  const text = readText(`/proc/${pid}/stat`);
  return text === null ? null : parseProcessFacts(text);
}

/** Null for whatever reason: what the system does not tell is unknown, and the rules for locks know that state. */
function readText(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return text === '' ? null : text;
  } catch {
    return null;
  }
}

/** Null where the system forbids to ask. */
function readUptime(): number | null {
  try {
    return uptime() * 1_000;
  } catch {
    return null;
  }
}

function readPidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}

const exitCallbacks = new Set<() => void>();
let isListening = false;

/** One listener for all callbacks, first in line: open handles are flushed before their locks are given back. */
function onExit(callback: () => void): () => void {
  if (!isListening) {
    isListening = true;
    process.prependListener('exit', runExitCallbacks);
  }
  const entry = (): void => callback();
  exitCallbacks.add(entry);
  return () => {
    exitCallbacks.delete(entry);
  };
}

/** A callback that throws keeps neither the others nor the exit from happening; the exit code tells. */
function runExitCallbacks(): void {
  for (const callback of exitCallbacks) {
    exitCallbacks.delete(callback);
    try {
      callback();
    } catch {
      if (process.exitCode === undefined || process.exitCode === 0) process.exitCode = 1;
    }
  }
}

/** Where this system wants temp files that nobody keeps. */
export function systemTemporaryDirectory(): string {
  return tmpdir();
}
