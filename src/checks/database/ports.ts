import type { Endpoint } from '../endpoint.ts';

/** The ports of a kind of server, and the scheme of its URLs with TLS. */
export interface ServerPorts {
  readonly plain: number;
  readonly scheme: string;
  /** Null if no scheme asks for TLS. */
  readonly secure: { readonly scheme: string; readonly port: number } | null;
}

/** Whether the scheme of a host asks for TLS. */
export function asksForTls({ scheme }: Pick<Endpoint, 'scheme'>, { secure }: ServerPorts): boolean {
  return secure !== null && scheme === secure.scheme;
}
