import { isIP } from 'node:net';
import type { Gate } from '#checks/index.ts';

/** A gate that pins addresses as they are and resolves no name. */
export const addressGate: Gate = {
  async pin(host) {
    const family = isIP(host);
    if (family === 4 || family === 6) return { ok: true, address: host, family, addresses: [host], seconds: 0 };
    const message = `${host} does not exist`;
    return { ok: false, failure: { source: 'target', code: 'name_not_found', message }, seconds: 0.001 };
  },
  verify: () => null,
};
