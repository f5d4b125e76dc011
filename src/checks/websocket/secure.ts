import type { Endpoint } from '../endpoint.ts';

/** Whether TLS comes first. */
export function isSecure({ scheme }: Pick<Endpoint, 'scheme'>): boolean {
  return scheme === 'wss' || scheme === 'https';
}
