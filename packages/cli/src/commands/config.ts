import type { Context } from '../command.js';

export async function config(_context: Context): Promise<number> {
  return 0;
}
