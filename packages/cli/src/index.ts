export type { Io, Sink, StopSignal } from './io.js';
export { run } from './run.js';
