import type { RawOutputContext } from '../check.ts';
import type { Outcome } from '../outcome.ts';
import { hostOfProbe, networkOf } from '../path/raw-hops.ts';
import { markOf } from '../path/lines.ts';
import { ipHeaderLength, probeSizes } from '../path/probe-socket.ts';
import type { PathHop, PathTrace } from '../path/path-trace.ts';
import type { Detail } from './detail.ts';
import type { Spec } from './spec.ts';

// What the kernel sends to open a connection: a TCP header with 20 bytes of options.
const synLength = 40;

/** The path as traceroute(8) of Debian prints it, with -n unless names were looked up, and with -A if the node has names of networks. */
export function rawOutput(outcome: Outcome<Detail>, { spec }: RawOutputContext<Spec>): string {
  const { detail } = outcome;
  if (detail === null) return outcome.status === 'up' ? '' : `${outcome.failure.message}\n`;
  const lines = [headOf(detail, spec), ...detail.hops.map((hop) => lineOf(hop, spec.names))];
  return `${lines.join('\n')}\n`;
}

function headOf({ address, family, protocol }: PathTrace, { host, max_hops }: Spec): string {
  const size = protocol === 'tcp' ? ipHeaderLength[family] + synLength : probeSizes.small;
  return `traceroute to ${host} (${address}), ${max_hops} hops max, ${size} byte packets`;
}

function lineOf(hop: PathHop, hasNames: boolean): string {
  let text = `${String(hop.hop).padStart(2)} `;
  let previous: string | null = null;
  for (const probe of hop.probes) {
    if (probe.kind === 'none') {
      text += ' *';
      continue;
    }
    const host = hostOfProbe(probe, hasNames);
    if (host !== previous) text += ` ${host}${networkOf(hop, ' [*]', (number) => ` [AS${number}]`)}`;
    previous = host;
    text += `${probe.seconds === null ? '' : `  ${(probe.seconds * 1_000).toFixed(3)} ms`}${markOf(probe)}`;
  }
  return text;
}
