import type { Context } from '../command.js';

export async function completion(_context: Context): Promise<number> {
  return 0;
}
