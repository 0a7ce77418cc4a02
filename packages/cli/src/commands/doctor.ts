import type { Context } from '../command.js';

export async function doctor(_context: Context): Promise<number> {
  return 0;
}
