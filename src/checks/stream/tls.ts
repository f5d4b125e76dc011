import { certificateLines } from '../certificate.ts';
import type { TlsConnection } from './tls-schemas.ts';

export type { StreamDetail, Tls, TlsConnection } from './tls-schemas.ts';

/** The protocol, its cipher, and the certificate; nothing without TLS. */
export function tlsLines(tls: TlsConnection | null): readonly string[] {
  if (tls === null) return [];
  return [`${tls.protocol}, ${tls.cipher}`, ...(tls.certificate === null ? [] : certificateLines(tls.certificate))];
}
