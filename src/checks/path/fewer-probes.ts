import type { PathTrace } from './path-trace.ts';

/**
 * The path with so few probes for each hop that it has at most `mostBytes` as JSON, if one for each is that small. Those that were
 * answered stay first.
 */
export function withFewerProbes(trace: PathTrace, mostBytes: number): PathTrace {
  let left = trace;
  let kept = Math.max(0, ...trace.hops.map(({ probes }) => probes.length));
  while (kept > 1 && Buffer.byteLength(JSON.stringify(left)) > mostBytes) {
    kept -= 1;
    left = { ...trace, hops: trace.hops.map((hop) => ({ ...hop, probes: keep(hop.probes, kept) })) };
  }
  return left;
}

function keep(probes: PathTrace['hops'][number]['probes'], count: number) {
  const answered = probes.filter(({ kind }) => kind !== 'none');
  const wanted = new Set([...answered, ...probes.filter(({ kind }) => kind === 'none')].slice(0, count));
  return probes.filter((probe) => wanted.has(probe));
}
