import type { Tool } from './tool.js';
import { blameTool } from './tools/blame.js';
import { getTool } from './tools/get.js';
import { searchTool } from './tools/search.js';
import { statsTool } from './tools/stats.js';
import { timelineTool } from './tools/timeline.js';
import { verifyTool } from './tools/verify.js';

/** Every tool there is; a server announces and answers what stands here, and nothing else. */
export const tools: readonly Tool[] = [searchTool, timelineTool, getTool, blameTool, statsTool, verifyTool];
