import { formatSeconds } from '#kernel/units.ts';
import { addressesOf } from './addresses.ts';
import type { PathHop, PathProbe, PathTrace } from './path-trace.ts';

/** `core1.example.net (198.51.100.9)  AS64500 Example`, or `*` for a silent hop. */
export function hopLabel(hop: PathHop): string {
  const addresses = addressesOf(hop);
  if (addresses.length === 0) return hop.probes.some(({ kind }) => kind !== 'none') ? '(hidden)' : '*';
  const names = addresses.map((address) => {
    const name = hop.probes.find((probe) => probe.address === address)?.name;
    return (name ?? null) === null ? address : `${name} (${address})`;
  });
  const network = hop.as ? `  AS${hop.as.number} ${hop.as.name}` : '';
  return `${names.join(', ')}${network}`;
}

// As traceroute(8) marks them.
const marks: Readonly<Record<PathProbe['kind'], string>> = {
  reply: '',
  time_exceeded: '',
  port_unreachable: '',
  connected: '',
  refused: '',
  unreachable: ' !H',
  prohibited: ' !X',
  too_big: ' !F',
  none: '',
};

/** The mark of a probe that a router refused, such as ` !X`, ` !F-1400`; empty for others. */
export function markOf({ kind, mtu }: PathProbe): string {
  return `${marks[kind]}${mtu === undefined ? '' : `-${mtu}`}`;
}

/** The round trip of a probe, `*` for none, and its mark. */
export function timeOf(probe: PathProbe): string {
  const { seconds, kind } = probe;
  if (kind === 'none') return '*';
  return `${seconds === null ? '?' : formatSeconds(seconds)}${markOf(probe)}`;
}

/** How a path ends that did not get to the destination; nothing if it did. */
export function endLine({ end, hops }: PathTrace): readonly string[] {
  const texts = {
    reached: null,
    rejected: 'rejected at the last hop',
    loop: 'packets go in a circle',
    silent: hops.length === 0 ? 'no answer' : 'no answer from here on',
    limit: 'not reached',
    error: null,
    measuring: null,
  } as const;
  const text = texts[end];
  return text === null ? [] : [text];
}

/** Which packets get through. */
export function measuredLines({ mtu, large }: PathTrace): readonly string[] {
  const lost = large?.result === 'lost';
  const after = (large?.last_hop ?? null) === null ? '' : `, after hop ${large?.last_hop}`;
  return [
    ...(mtu === null ? [] : [`path MTU ${mtu} bytes`]),
    ...(lost ? [`packets of 1500 bytes are lost${after}, without an error message`] : []),
  ];
}
