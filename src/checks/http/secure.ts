import type { Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { tlsOptions } from '../tls.ts';
import type { HopRequest } from './redirect.ts';
import type { Spec } from './spec.ts';

// Reading the well-known authorities takes longer than a handshake. A context holds no session, so it can serve every probe.
let wellKnown: SecureContext | undefined;

export interface SecureOptions {
  readonly context: SecureContext;
  readonly serverName: string;
  readonly alpn: readonly string[];
}

/**
 * What a handshake of this request needs. Client certificate and server name are for the configured origin alone. Throws
 * where the PEM texts of the spec cannot be read.
 */
export function secureOptions(spec: Spec, { target, sameOrigin }: HopRequest): SecureOptions {
  const { ca, client, server_name: serverName } = spec.tls;
  return {
    context: contextOf(ca, sameOrigin ? client : undefined),
    serverName: (sameOrigin ? serverName : undefined) ?? target.name,
    alpn: spec.http2 === 'auto' ? ['h2', 'http/1.1'] : ['http/1.1'],
  };
}

/** Resolves once the handshake is done, whatever the certificate; rejects where it fails. */
export async function secure(socket: Socket, options: SecureOptions): Promise<TLSSocket> {
  const { context, ...rest } = options;
  return new Promise((resolve, reject) => {
    const secured = connect({ ...tlsOptions(socket, rest), secureContext: context });
    // Stays: without a listener an error of the open connection would end the process.
    secured.on('error', reject);
    secured.once('secureConnect', () => resolve(secured));
  });
}

function contextOf(ca: string | undefined, client: Spec['tls']['client']): SecureContext {
  if (ca === undefined && client === undefined) return (wellKnown ??= createSecureContext());
  return createSecureContext({ ...(ca !== undefined && { ca }), ...client });
}
