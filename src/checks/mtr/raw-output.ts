import type { RawOutputContext } from '../check.ts';
import type { Outcome } from '../outcome.ts';
import type { PathHop } from '../path/path-trace.ts';
import { hostOfProbe, networkOf } from '../path/raw-hops.ts';
import type { Detail, HopFigures } from './detail.ts';
import type { Spec } from './spec.ts';

const times = ['last', 'mean', 'best', 'worst', 'deviation'] as const;
const heads = ['Last', 'Avg', 'Best', 'Wrst', 'StDev'];
const shortest = 33;

/** The table as `mtr --report` of Debian prints it, without the line with the time; with networks if the node has names of them. */
export function rawOutput(outcome: Outcome<Detail>, { spec, node }: RawOutputContext<Spec>): string {
  const { detail } = outcome;
  if (detail === null) return outcome.status === 'up' ? '' : `${outcome.failure.message}\n`;
  const labels = detail.path.hops.map((hop) => labelOf(hop, spec.names));
  const width = Math.max(shortest, ...labels.map(({ length }) => length));
  const lines = detail.figures.map((figures, index) => `${(labels[index] ?? '').padEnd(width)}${cellsOf(figures)}`);
  const head = `${`HOST: ${node}`.padEnd(width)}${cells(['Loss%', 'Snt', ...heads])}`;
  return `${[head, ...lines].join('\n')}\n`;
}

function labelOf(hop: PathHop, hasNames: boolean): string {
  const probe = hop.probes.find(({ kind }) => kind !== 'none');
  const host = probe === undefined ? '???' : hasNames && probe.name ? probe.name : hostOfProbe(probe, false);
  const number = String(hop.hop).padStart(3);
  if (hop.as === undefined) return `${number}.|-- ${host}`;
  return `${number}. ${networkOf(hop, 'AS???', (as) => `AS${as}`).padEnd(8)} ${host}`;
}

function cellsOf(figures: HopFigures): string {
  // As there: of 100.0% the sign has no room.
  const loss = `${(figures.loss * 100).toFixed(1)}%`.slice(0, 5);
  return cells([loss, String(figures.sent), ...times.map((name) => ((figures[name] ?? 0) * 1_000).toFixed(1))]);
}

const widths = [6, 6, 7];
const width = 6;

function cells(texts: readonly string[]): string {
  return texts.map((text, index) => ` ${text}`.padStart(widths[index] ?? width)).join('');
}
