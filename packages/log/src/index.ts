export { type OwnedLog, openOwnedLog } from './owned-log.js';
export { transaction } from './shared-log.js';
