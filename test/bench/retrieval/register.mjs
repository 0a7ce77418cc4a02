// `node --import` of this lets Node 20 load the TypeScript of the benchmark.
import { register } from 'node:module';

register('../../tidy/typescript-loader.mjs', import.meta.url);
