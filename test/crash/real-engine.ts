import { openOwnedLog, transaction } from '@turnlog/log';
import type { EngineUnderTest } from '@turnlog/testkit';

/** The engine as it is shipped, on the machine of a test. */
export const realEngine: EngineUnderTest = {
  open: (machine, directory, sessionId, options) => openOwnedLog(machine, directory, sessionId, options),
  transaction: (machine, directory, sessionId, work) => transaction(machine, directory, sessionId, work),
};
