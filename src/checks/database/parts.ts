import { endpointOf, portOf } from '../endpoint.ts';
import type { Outcome } from '../outcome.ts';
import { type ServerDetail, serverTable } from './detail.ts';
import { serverFiles } from './options.ts';

/** What all types that sign in to a server have in common. */
export const serverParts = {
  files: serverFiles,
  signsIn: true,
  phases: ['resolve', 'connect', 'tls', 'login', 'query'],
  facts: ['certificate_expires_at'],
  deadlineMs: ({ timeout }: { readonly timeout: number }) => timeout,
  port: ({ host }: { readonly host: string }) => String(portOf(endpointOf(host))),
  certificate: ({ detail }: Outcome<ServerDetail>) => detail?.tls?.certificate ?? null,
  table: serverTable,
} as const;
