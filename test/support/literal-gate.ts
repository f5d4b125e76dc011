import { isIP } from 'node:net';
import { failure, type Gate } from '#checks/index.ts';

/** A gate that lets every address through and knows the names it was given. */
export function literalGate(names: Readonly<Record<string, string>> = {}): Gate {
  return {
    async pin(host, { signal }) {
      signal.throwIfAborted();
      const address = isIP(host) === 0 ? names[host] : host;
      if (address === undefined) {
        return { ok: false, failure: failure('target', 'name_not_found', `${host} does not exist`), seconds: 0 };
      }
      const family = isIP(address) === 6 ? 6 : 4;
      return { ok: true, address, family, addresses: [address], seconds: 0 };
    },
    verify: () => null,
  };
}

/** A gate that pins every host but then takes each connection for another machine's. */
export const distrustingGate: Gate = {
  ...literalGate(),
  verify: () => failure('node', 'forbidden', 'connected to another address'),
};
