import type { Context } from '../command.js';

export async function capabilities(_context: Context): Promise<number> {
  return 0;
}
