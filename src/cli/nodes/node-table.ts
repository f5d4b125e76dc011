import type { infosOf } from '#config/shape/enrolled.ts';
import type { StatusList } from '#protocol/nodes.ts';
import { alignRows } from '../shared/table.ts';

type NodeInfos = ReturnType<typeof infosOf>;

const head = ['node', 'place', 'state', 'version', 'processes', 'clock', 'latency', 'spooled', 'lost'];

/** The nodes as a table; of those without a status only what was enrolled. */
export function nodeTable(infos: NodeInfos, statuses: StatusList['nodes']): string {
  const hasPlugins = statuses.some(({ plugins = [] }) => plugins.length > 0);
  const rows = infos.map(({ name, city, country, asn }) => {
    const place = [city, country, asn].filter((part) => part !== '').join(', ') || '-';
    const status = statuses.find((one) => one.name === name);
    if (status === undefined)
      return [name, place, 'not known', '-', '-', '-', '-', '-', '-', ...(hasPlugins ? ['-'] : [])];
    const { online, reason, version, processes, clockOffsetMs, roundTripMs, spooled, losses, plugins } = status;
    return [
      name,
      place,
      online ? onlineState(status) : (reason ?? 'offline'),
      version ?? '-',
      String(processes),
      clockOffsetMs === null ? '-' : signed(clockOffsetMs),
      roundTripMs === null ? '-' : `${roundTripMs.toFixed(1)} ms`,
      String(spooled),
      losses === undefined ? '-' : lossesOf(losses),
      ...(hasPlugins ? [plugins?.join(' ') || '-'] : []),
    ];
  });
  return alignRows([hasPlugins ? [...head, 'plugins'] : head, ...rows])
    .map((line) => `${line}\n`)
    .join('');
}

function onlineState({ isOverBudget = false, overBudget = null }: StatusList['nodes'][number]): string {
  if (!isOverBudget) return 'online';
  return overBudget === null ? 'online, sends too much' : `online, sends ${overBudget}`;
}

type NodeLosses = NonNullable<StatusList['nodes'][number]['losses']>;

// Since the node started.
function lossesOf({ dropped, refused, skipped, hub_overload: overload = 0 }: NodeLosses): string {
  const all = [
    [dropped, 'dropped'],
    [refused, 'refused'],
    [skipped, 'not begun'],
    [overload, 'skipped (hub overload)'],
  ] as const;
  const words = all.flatMap(([count, word]) => (count === 0 ? [] : `${count} ${word}`));
  return words.length === 0 ? '0' : words.join(', ');
}

// Positive if the node's clock is ahead of the hub's.
const signed = (ms: number) => `${ms < 0 ? '' : '+'}${ms.toFixed(1)} ms`;
