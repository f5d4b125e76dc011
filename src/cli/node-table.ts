import type { infosOf } from '#config/enrolled.ts';
import type { StatusList } from '#protocol/nodes.ts';
import { alignRows } from './table.ts';

type Infos = ReturnType<typeof infosOf>;

const head = ['node', 'place', 'state', 'version', 'processes', 'clock', 'latency', 'spooled'];

/** The nodes as a table; of those without a status only what was enrolled. */
export function nodeTable(infos: Infos, statuses: StatusList['nodes']): string {
  const rows = infos.map(({ name, city, country, asn }) => {
    const place = [city, country, asn].filter((part) => part !== '').join(', ') || '-';
    const status = statuses.find((one) => one.name === name);
    if (status === undefined) return [name, place, 'not known', '-', '-', '-', '-', '-'];
    const { online, reason, version, processes, clockOffsetMs, roundTripMs, spooled } = status;
    return [
      name,
      place,
      online ? 'online' : (reason ?? 'offline'),
      version ?? '-',
      String(processes),
      clockOffsetMs === null ? '-' : signed(clockOffsetMs),
      roundTripMs === null ? '-' : `${roundTripMs.toFixed(1)} ms`,
      String(spooled),
    ];
  });
  return alignRows([head, ...rows])
    .map((line) => `${line}\n`)
    .join('');
}

// Positive where the node's clock is ahead of the hub's.
const signed = (ms: number) => `${ms < 0 ? '' : '+'}${ms.toFixed(1)} ms`;
