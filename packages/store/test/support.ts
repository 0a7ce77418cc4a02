import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LogEnvironment } from '@turnlog/log';
import { openStore, type Store } from '@turnlog/store';
import {
  createTestMachine,
  FakeClock,
  FakeHost,
  FakeLockTable,
  FaultFileSystem,
  ModelFileSystem,
  type TestMachine,
} from '@turnlog/testkit';

/** A store on a machine in memory; its root does not exist until something is written. */
export class TestStore {
  readonly root: string = '/data/store';
  readonly clock = new FakeClock();
  readonly disk: ModelFileSystem;
  readonly fs: FaultFileSystem;
  readonly lockTable = new FakeLockTable();
  readonly machine: TestMachine;

  constructor(options: { readonly uid?: number; readonly directorySync?: 'supported' | 'unsupported' } = {}) {
    const uid = options.uid ?? 1000;
    this.disk = new ModelFileSystem({
      clock: this.clock,
      uid,
      directorySync: options.directorySync ?? 'supported',
    });
    this.fs = new FaultFileSystem(this.disk);
    this.machine = createTestMachine({
      fs: this.fs,
      clock: this.clock,
      lockTable: this.lockTable,
      host: new FakeHost({ uid }),
    });
  }

  open(parts: Partial<LogEnvironment> = {}): Promise<Store> {
    return openStore({ root: this.root, environment: { ...this.machine, ...parts }, cwd: '/', env: {} });
  }

  session(id: string): string {
    return `${this.root}/sessions/${id}`;
  }

  /** Puts a log with just these lines there, without any derived file. */
  plant(id: string, lines: readonly string[]): void {
    this.plantDirectories();
    this.disk.plantDirectory(this.session(id));
    this.disk.plantFile(`${this.session(id)}/events.jsonl`, Buffer.from(lines.join('')));
  }

  plantDirectories(): void {
    for (const path of ['/data', this.root, `${this.root}/sessions`]) {
      if (this.disk.status(path) === null) this.disk.plantDirectory(path);
    }
  }
}

/** A record line with its 0x0A. */
export function line(seq: number, event: object): string {
  const ts = `2026-01-05T10:00:${String(seq % 60).padStart(2, '0')}.000Z`;
  return `${JSON.stringify({ schema_version: '0.18.0', seq, ts, event })}\n`;
}

const golden = resolve(__dirname, '../../../test/golden/cases');
const shared = resolve(__dirname, '../../../../shared/cases');

/** Rows of a table that comes with the specifications; the copy in this repository has the same bytes. */
export function caseRows<Row>(folder: string, file: string): readonly Row[] {
  const bytes = readFileSync(join(golden, folder, file));
  const original = join(shared, folder, file);
  if (existsSync(original) && !readFileSync(original).equals(bytes)) {
    throw new Error(`${folder}/${file} differs from the one of the specifications`);
  }
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text): Row => JSON.parse(text));
}
