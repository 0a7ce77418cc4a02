import { ClaudeStreamMapper } from './claude-stream-mapper.js';
import { CodexExecMapper } from './codex-exec-mapper.js';
import { EventsMapper } from './events-mapper.js';
import { LineStream } from './line-stream.js';
import type { StreamMapper } from './stream-mapper.js';
import type { EventStream, StreamKind, StreamOptions } from './stream-types.js';

/** Opens a fold over the lines of a stream. The first object decides what it is. */
export function openEventStream(options: StreamOptions): EventStream {
  return new LineStream(options, mapperOf);
}

function mapperOf(kind: Exclude<StreamKind, 'auto'>, options: StreamOptions): StreamMapper {
  switch (kind) {
    case 'events':
      return new EventsMapper(options);
    case 'codex-exec':
      return new CodexExecMapper(options);
    case 'claude-stream':
      return new ClaudeStreamMapper(options);
  }
}
