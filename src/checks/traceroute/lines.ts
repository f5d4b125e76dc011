import type { Outcome } from '../outcome.ts';
import { endLine, hopLabel, measuredLines, timeOf } from '../path/lines.ts';
import type { Detail } from './detail.ts';

/** One line for each hop, as traceroute(8) prints them, and what else was found. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  return [
    ...detail.hops.map((hop) => {
      return [String(hop.hop).padStart(2), hopLabel(hop).padEnd(28), hop.probes.map(timeOf).join('  ')].join('  ');
    }),
    ...endLine(detail),
    ...measuredLines(detail),
  ];
}
