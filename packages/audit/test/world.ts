import { join } from 'node:path';
import {
  type Findings,
  type PackOptions,
  type PackReport,
  packSession,
  type Verdict,
  type VerifyRequest,
  verdictExits,
  verdictOn,
  verifyPack,
} from '@turnlog/audit';
import type { CapOptions, LogReader } from '@turnlog/log';
import { openStore, type Store } from '@turnlog/store';
import {
  createTestMachine,
  FakeClock,
  FakeLockTable,
  FaultFileSystem,
  ModelFileSystem,
  type TestMachine,
} from '@turnlog/testkit';

/** A store in memory with packs in it. */
export class AuditWorld {
  readonly root = '/data/store';
  readonly clock = new FakeClock('skips');
  readonly disk = new ModelFileSystem({ clock: this.clock });
  readonly fs = new FaultFileSystem(this.disk);
  readonly machine: TestMachine = createTestMachine({
    fs: this.fs,
    clock: this.clock,
    lockTable: new FakeLockTable(),
  });

  store(): Promise<Store> {
    return openStore({ root: this.root, environment: this.machine, cwd: '/', env: {} });
  }

  directory(id = 's-1'): string {
    return `${this.root}/sessions/${id}`;
  }

  path(name: string, id = 's-1'): string {
    return join(this.directory(id), name);
  }

  /** Appends turns of three records each. */
  async turns(count: number, cap?: CapOptions, id = 's-1'): Promise<void> {
    const log = await (await this.store()).open(id, cap === undefined ? {} : { cap });
    for (let turn = 0; turn < count; turn += 1) {
      this.clock.advance(1_000);
      log.append({ type: 'turn.started' });
      log.append({ type: 'error', message: `turn ${log.lastSeq} says something of its own` });
      log.append({ type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 2 } });
    }
    await log.maintain();
    await log.close();
  }

  /** Cuts the log down. */
  async cut(maxEvents: number, archive: 'gzip' | 'drop' = 'gzip', id = 's-1'): Promise<void> {
    const log = await (await this.store()).open(id, { cap: { maxEvents, target: 1, archive } });
    const { maintenance } = await log.maintain();
    await log.close();
    if (maintenance !== undefined) throw new Error(maintenance.map(({ message }) => message).join(', '));
  }

  pack(options: PackOptions = { record: 'none' }, id = 's-1'): Promise<PackReport> {
    return packSession(this.machine, { directory: this.directory(id), sessionId: id }, options);
  }

  verify(more: Partial<VerifyRequest> = {}, id = 's-1'): Promise<Findings> {
    const place = { directory: this.directory(id), sessionId: id, nowMs: this.clock.now() };
    return verifyPack(this.fs, { ...place, ...more });
  }

  async verdict(more: Partial<VerifyRequest> = {}, id = 's-1'): Promise<Verdict> {
    return verdictOn(await this.verify(more, id));
  }

  async exit(more: Partial<VerifyRequest> = {}, id = 's-1'): Promise<number> {
    return verdictExits[await this.verdict(more, id)];
  }

  async reader(id = 's-1'): Promise<LogReader> {
    return (await this.store()).read(id, { tree: 'hashed' });
  }

  /** The bytes of a file of the session. */
  bytes(name: string, id = 's-1'): Buffer {
    return readWhole(this.disk, this.path(name, id));
  }

  plant(name: string, bytes: Uint8Array | string, id = 's-1'): void {
    this.disk.plantFile(this.path(name, id), Buffer.from(bytes));
  }

  /** A session that holds just these bytes. */
  plantLog(bytes: Uint8Array | string, id = 's-1'): void {
    for (const path of ['/data', this.root, `${this.root}/sessions`, this.directory(id)]) {
      if (this.disk.status(path) === null) this.disk.plantDirectory(path);
    }
    this.plant('events.jsonl', bytes, id);
  }
}

export function readWhole(disk: ModelFileSystem, path: string): Buffer {
  const file = disk.open(path, 'read');
  const bytes = Buffer.alloc(file.status().size);
  for (let at = 0; at < bytes.length; ) at += file.read(bytes.subarray(at), at);
  file.close();
  return bytes;
}

/** Line `n` of the line set V of the published vectors. */
export function lineV(n: number): string {
  const time = new Date(Date.UTC(2026, 0, 5, 10, 0, n)).toISOString();
  return `{"schema_version":"0.18.0","seq":${n},"ts":"${time}","event":{"type":"error","message":"m${n}"}}`;
}

export function logV(count: number): string {
  return Array.from({ length: count }, (_, at) => `${lineV(at + 1)}\n`).join('');
}
