/*
 * Brings the mirror of a store up to its logs and kills itself at the COMMIT of that number: before it is carried out,
 * or right after. Says `done` when there was no such commit.
 */
import { loadSqlite, openMirror } from '../../packages/mirror/dist/index.js';
import { openStore } from '../../packages/store/dist/index.js';
import { tell } from './machine.mjs';

const [root, commit, moment] = process.argv.slice(2);
const sqlite = await loadSqlite();
let count = 0;

function killed() {
  process.kill(process.pid, 'SIGKILL');
}

function killing(database) {
  return {
    ...database,
    exec(sql) {
      if (sql === 'COMMIT') count += 1;
      const isLast = sql === 'COMMIT' && count === Number(commit);
      if (isLast && moment === 'before') killed();
      database.exec(sql);
      if (isLast) killed();
    },
  };
}

const store = await openStore({ root, cwd: '/', env: {} });
const load = async () => ({ open: (path, mode) => killing(sqlite.open(path, mode)) });
const opened = await openMirror(store, { load, filesystemKind: () => ({ name: 'ext', reach: 'local' }) });
if (opened.kind === 'off') throw new Error(opened.reason);
const { isComplete, degraded } = await opened.mirror.catchUp({ waitMs: 60_000 });
if (!isComplete) throw new Error(degraded.join());
opened.mirror.close();
tell('done', count);
