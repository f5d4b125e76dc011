import { createSecureContext, type SecureContext } from 'node:tls';
import { type TlsOptions, trusting } from '../tls-connection.ts';
import type { HopRequest } from './redirect.ts';
import type { Spec } from './spec.ts';

// Reading the well-known authorities takes longer than a handshake. A context holds no session, so it can serve every probe.
let wellKnown: SecureContext | undefined;

/**
 * What a handshake of this request needs. Client certificate and server name are for the configured origin alone. Throws
 * if the PEM texts of the spec cannot be read.
 */
export function secureOptions(spec: Pick<Spec, 'tls' | 'http2'>, { target, sameOrigin }: HopRequest): TlsOptions {
  const { ca, client, server_name: serverName } = spec.tls;
  return {
    context: contextOf(ca, sameOrigin ? client : undefined),
    serverName: (sameOrigin ? serverName : undefined) ?? target.name,
    alpn: spec.http2 === 'auto' ? ['h2', 'http/1.1'] : ['http/1.1'],
  };
}

function contextOf(ca: string | undefined, client: Spec['tls']['client']): SecureContext {
  if (ca === undefined && client === undefined) return (wellKnown ??= createSecureContext());
  return createSecureContext({ ...(ca !== undefined && trusting(ca)), ...client });
}
