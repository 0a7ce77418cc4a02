export { type Fitted, fitItems } from './output-limits.js';
