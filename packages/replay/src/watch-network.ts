import { createHook } from 'node:async_hooks';

/** The exit of a process that was ended because code in it reached for the network. */
export const networkExit = 91;

/** What Node makes when code looks up a name, opens a socket, or waits for one. */
const networkTypes: ReadonlySet<string> = new Set([
  'GETADDRINFOREQWRAP',
  'GETNAMEINFOREQWRAP',
  'QUERYWRAP',
  'TCPWRAP',
  'TCPCONNECTWRAP',
  'TCPSERVERWRAP',
  'TLSWRAP',
  'UDPWRAP',
  'UDPSENDWRAP',
  'PIPECONNECTWRAP',
  'PIPESERVERWRAP',
]);

/** From now on `onUse` is called before a socket of this process is used, or a name looked up. */
export function watchNetwork(onUse: () => void): void {
  createHook({
    init: (_id, type) => {
      if (networkTypes.has(type)) onUse();
    },
  }).enable();
}
