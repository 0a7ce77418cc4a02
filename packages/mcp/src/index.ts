export type { MessageStreams } from './message-transport.js';
export { type McpOptions, serveMcp, toolDefinitions } from './server.js';
export type { ErrorDocument, ToolAnnotations, ToolDefinition } from './tool.js';
