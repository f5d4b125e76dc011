import { promises } from 'node:dns';
import { type Clock, deadline, DeadlineError, orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { missOf } from '../resolver.ts';
import type { PathTrace } from './path-trace.ts';

/**
 * Looks up the host names of a path's hops with the node's name servers, all at once and within `limitMs`: hops without an answer by then
 * have none. Rejects only with the signal's reason.
 */
export async function withNames(
  trace: PathTrace,
  limitMs: number,
  clock: Clock,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<PathTrace> {
  const addresses = new Set(trace.hops.flatMap(({ probes }) => probes.map(({ address }) => address)));
  addresses.delete(null);
  using limit = deadline(clock, limitMs, signal);
  const client = new promises.Resolver({ timeout: limitMs, tries: 1 });
  if (servers !== undefined) client.setServers(servers);
  const names = new Map<string, string>();
  try {
    const lookUp = async (address: string | null) => {
      if (address === null) return;
      const [name] = await client.reverse(address).catch((error: unknown) => {
        // Throws on what is no answer of a name server.
        missOf(error);
        return [];
      });
      if (name !== undefined) names.set(address, singleLine(name, 255));
    };
    await orAbort(Promise.all([...addresses].map(lookUp)), limit.signal);
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error;
  } finally {
    client.cancel();
  }
  const hops = trace.hops.map((hop) => ({
    ...hop,
    probes: hop.probes.map((probe) => ({ ...probe, name: names.get(probe.address ?? '') ?? null })),
  }));
  return { ...trace, hops };
}
