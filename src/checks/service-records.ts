import { promises, type SrvRecord } from 'node:dns';
import { type Clock, deadline, DeadlineError, orAbort } from '#kernel/clock.ts';
import { systemCode } from '#kernel/errors.ts';
import { missOf } from './resolver.ts';

export interface ServiceLookupOptions {
  readonly clock: Clock;
  /** `address` or `address:port` of the name server; null means those of resolv.conf(5). */
  readonly server: string | null;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** The SRV records of a name (RFC 2782), in no order, or why there are none. */
export type ServiceLookup =
  | { readonly ok: true; readonly records: readonly SrvRecord[] }
  | { readonly ok: false; readonly reason: string };

/** Looks up a name's SRV records, without a cache and without a search list. Rejects only if the signal aborts. */
export async function lookUpServices(name: string, options: ServiceLookupOptions): Promise<ServiceLookup> {
  const { clock, server, limitMs, signal } = options;
  using limit = deadline(clock, limitMs, signal);
  const client = new promises.Resolver({ timeout: 1_500, maxTimeout: 1_500, tries: 2 });
  if (server !== null) client.setServers([server]);
  try {
    return { ok: true, records: await orAbort(client.resolveSrv(name), limit.signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DeadlineError) return { ok: false, reason: `no answer within ${limitMs / 1_000} s` };
    return { ok: false, reason: reasonOf(error, name) };
  } finally {
    client.cancel();
  }
}

function reasonOf(error: unknown, name: string): string {
  switch (missOf(error)) {
    case 'no_name':
      return `the name ${name} does not exist`;
    case 'no_address':
      return `the name ${name} has no SRV record`;
    case 'silence':
      return 'the name server does not answer';
    case 'error':
      return `the name server answers with an error (${systemCode(error)})`;
  }
}
