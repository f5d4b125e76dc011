import { lookUpServices } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';

/** A name that has SRV records, and the name server to ask as `address:port`, or null for those of this machine. */
export interface ServiceName {
  readonly kind: 'srv';
  readonly name: string;
  readonly server: string | null;
}

type SrvAnswer = { readonly text: string } | { readonly trouble: string };

/**
 * The SRV records of a name as the groups of `http_sd`, one on each line. They are sorted, because name servers rotate their answers
 * and another order is no change. A target of "." means that there is no such service (RFC 2782): then the list is empty.
 */
export async function askServices(
  { name, server }: ServiceName,
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
): Promise<SrvAnswer> {
  const found = await lookUpServices(name, { clock, server, limitMs, signal });
  if (!found.ok) return { trouble: found.reason };
  const groups = found.records
    .filter((record) => record.name !== '' && record.name !== '.')
    .toSorted(
      (one, other) =>
        one.priority - other.priority ||
        other.weight - one.weight ||
        one.port - other.port ||
        Number(one.name > other.name) - Number(one.name < other.name),
    )
    .map(({ name: host, port, priority, weight }) =>
      JSON.stringify({
        targets: [`${host.toLowerCase()}:${port}`],
        labels: { priority: String(priority), weight: String(weight) },
      }),
    );
  return { text: `[${groups.join(',\n')}]` };
}
