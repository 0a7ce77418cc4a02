// A file system that counts what a log asks of it: bytes written by file name, syncs, reads.

import { basename } from 'node:path';

export class Counters {
  writtenBytes = new Map();
  readBytes = 0;
  readCalls = 0;
  dataSyncs = 0;
  syncs = 0;

  reset() {
    this.writtenBytes.clear();
    this.readBytes = 0;
    this.readCalls = 0;
    this.dataSyncs = 0;
    this.syncs = 0;
  }

  written(path, count) {
    const name = basename(path).startsWith('.t-') ? 'manifest.json' : basename(path);
    this.writtenBytes.set(name, (this.writtenBytes.get(name) ?? 0) + count);
  }
}

function countingFile(file, counters) {
  return {
    path: file.path,
    write(bytes) {
      const count = file.write(bytes);
      counters.written(file.path, count);
      return count;
    },
    read(into, offset) {
      const count = file.read(into, offset);
      counters.readCalls += 1;
      counters.readBytes += count;
      return count;
    },
    truncate: (length) => file.truncate(length),
    sync() {
      counters.syncs += 1;
      file.sync();
    },
    syncData() {
      counters.dataSyncs += 1;
      file.syncData();
    },
    syncDataLater() {
      counters.dataSyncs += 1;
      return file.syncDataLater();
    },
    status: () => file.status(),
    setMode: (mode) => file.setMode(mode),
    close: () => file.close(),
  };
}

/** `fs` with every call passed on and counted. */
export function countingFileSystem(fs, counters) {
  return { ...fs, open: (path, mode) => countingFile(fs.open(path, mode), counters) };
}
