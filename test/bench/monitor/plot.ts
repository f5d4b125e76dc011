import type { Result, Subject } from './result.ts';
import { kinds, type Kind } from './targets.ts';

const panel = { width: 250, height: 220, left: 58, top: 34, gap: 60 };
const legendWidth = 230;
const colours: Readonly<Record<string, string>> = {
  watchpost: '#1a7f37',
  'blackbox_exporter and Prometheus': '#bc4c00',
  fping: '#0969da',
  'bare loop': '#6e7781',
};

interface Line {
  readonly name: string;
  readonly points: readonly (readonly [targets: number, cpuUs: number])[];
}

/** CPU for each check against the number of targets, both logarithmic, a panel for each kind of check. */
export function plotOf(results: readonly Result[]): string {
  const shown = kinds.filter((kind) => results.some((one) => one.kind === kind));
  const width = panel.left + shown.length * (panel.width + panel.gap);
  const height = panel.top + panel.height + 70;
  const panels = shown.map((kind, index) => panelOf(kind, results, panel.left + index * (panel.width + panel.gap)));
  const names = new Set(shown.flatMap((kind) => linesOf(kind, results).map(({ name }) => name)));
  const legend = [...names].map(
    (name, index) =>
      `<g transform="translate(${panel.left + index * legendWidth} ${height - 14})"><rect width="12" height="4" y="-4" fill="${colours[name] ?? '#000'}"/>` +
      `<text x="17" class="small">${name}</text></g>`,
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="CPU for each check against the number of targets">\n` +
    `<style>text{font:13px sans-serif;fill:#57606a}.small{font-size:11px}</style>\n` +
    `<rect width="${width}" height="${height}" fill="#fff"/>\n${panels.join('\n')}\n${legend.join('\n')}\n</svg>\n`
  );
}

const log = Math.log10;
const bounds = { targets: [100, 10_000], cpuUs: [100, 10_000] } as const;

function panelOf(kind: Kind, results: readonly Result[], left: number): string {
  const share = (value: number, [from, to]: readonly [number, number]) =>
    (log(value) - log(from)) / (log(to) - log(from));
  const x = (targets: number) => left + 14 + share(targets, bounds.targets) * (panel.width - 28);
  const y = (cpuUs: number) => panel.top + panel.height * (1 - Math.min(1, Math.max(0, share(cpuUs, bounds.cpuUs))));
  const grid = [100, 1_000, 10_000].map((value) => {
    const label = value.toLocaleString('en-US');
    return (
      `<path d="M${left} ${y(value)}h${panel.width}" stroke="#d0d7de"/>` +
      `<text x="${left - 5}" y="${y(value) + 4}" text-anchor="end" class="small">${label}</text>` +
      `<text x="${x(value)}" y="${panel.top + panel.height + 17}" text-anchor="middle" class="small">${label}</text>`
    );
  });
  const drawn = linesOf(kind, results).map(({ name, points }) => {
    const colour = colours[name] ?? '#000';
    const path = points.map(([targets, cpuUs]) => `${x(targets).toFixed(1)},${y(cpuUs).toFixed(1)}`);
    const dots = path.map((point) => {
      const [cx = '', cy = ''] = point.split(',');
      return `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`;
    });
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}`;
  });
  const title = `<text x="${left}" y="${panel.top - 12}">${kind}: microseconds of CPU a check</text>`;
  const axis = `<text x="${left + panel.width / 2}" y="${panel.top + panel.height + 34}" text-anchor="middle" class="small">targets</text>`;
  return [title, ...grid, ...drawn, axis].join('\n');
}

function linesOf(kind: Kind, results: readonly Result[]): readonly Line[] {
  const together: Readonly<Record<string, readonly Subject[]>> = {
    watchpost: ['watchpost'],
    'blackbox_exporter and Prometheus': ['blackbox_exporter', 'Prometheus'],
    fping: ['fping'],
    'bare loop': ['bare loop'],
  };
  return Object.entries(together).flatMap(([name, subjects]) => {
    const ours = results.filter((one) => one.kind === kind && subjects.includes(one.subject));
    const points = [...Map.groupBy(ours, ({ targets }) => targets)]
      .map(([targets, all]) => [targets, all.reduce((sum, { cpuUs }) => sum + cpuUs, 0)] as const)
      .toSorted(([one], [other]) => one - other);
    return points.length === 0 ? [] : [{ name, points }];
  });
}
