// Peak memory of one action on a log of 1 GiB, each in a fresh process, less that of an empty one: P-4.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildLog } from '../build-log.mjs';
import { createEnvironment, here, option, withDirectory } from '../machine.mjs';
import { summary } from '../measure.mjs';

const byteCount = Number(option('bytes', 1_073_741_824));
const actions = ['empty', 'open', 'tail', 'turn', 'list', 'open for writing', 'scan'];

function measure(path, action) {
  const child = spawnSync(process.execPath, [join(here, 'memory-child.mjs'), path, action], {
    encoding: 'utf8',
  });
  if (child.status !== 0) throw new Error(`${action}: ${child.stderr}`);
  return JSON.parse(child.stdout);
}

const result = await withDirectory(async (directory) => {
  const sessions = join(directory, 'sessions');
  const env = createEnvironment();
  env.fs.makeDirectory(sessions);
  const built = await buildLog(env, join(sessions, 's-bench'), { byteCount });
  const found = new Map(actions.map((action) => [action, []]));
  for (let round = 0; round < 5; round += 1) {
    for (const action of actions) found.get(action).push(measure(directory, action));
  }
  const median = (action, name) =>
    summary(found.get(action).map((figures) => figures[name])).median / 1_048_576;
  const rows = actions.map((action) => ({
    action,
    'peak RSS, MiB': median(action, 'rss'),
    'less empty, MiB': median(action, 'rss') - median('empty', 'rss'),
    'heap used, MiB': median(action, 'heap'),
  }));
  return {
    title: 'peak memory',
    note: `${built.records} records, ${Math.round(built.bytes / 1_048_576)} MiB, healthy metadata`,
    rows,
  };
});
process.stdout.write(`${JSON.stringify(result)}\n`);
