import { type Endpoint, portOf } from '../endpoint.ts';

/** The port of an endpoint: as written, else by its scheme, else 443. */
export function tlsPortOf(endpoint: Endpoint): number {
  return endpoint.port === null && endpoint.scheme === null ? 443 : portOf(endpoint);
}
