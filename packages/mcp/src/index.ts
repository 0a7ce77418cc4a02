export { type McpHttpOptions, serveMcpHttp } from './http-server.js';
export type { MessageStreams } from './message-transport.js';
export { type McpOptions, type McpService, serveMcp, toolDefinitions } from './server.js';
export type { ErrorDocument, ToolAnnotations, ToolDefinition } from './tool.js';
