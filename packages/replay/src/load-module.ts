import { pathToFileURL } from 'node:url';

/** Loads a module of the user: the one place where what is imported is not written down. */
export async function loadModule(path: string): Promise<unknown> {
  return await import(pathToFileURL(path).href);
}
