import type { HubStatus } from './peers.ts';

// So many records may be on their way.
const mostBehind = 5;

/** What is not as it should be with a hub, beside the one that leads if there is one; empty if all is well. */
export function remarksOf(hub: HubStatus, leader: HubStatus | undefined): readonly string[] {
  const behind = (leader?.applied.n ?? hub.applied.n) - hub.applied.n;
  return [
    ...(hub.trouble === null ? [] : [hub.trouble]),
    ...(hub.role === 'alone' ? ['goes on without the log'] : []),
    ...(behind > mostBehind ? [`${behind} records behind`] : []),
    ...(leader !== undefined && leader.fingerprint !== hub.fingerprint
      ? [`its configuration differs from that of ${leader.name}`]
      : []),
    ...(leader !== undefined && leader.version !== hub.version
      ? [`its version differs from that of ${leader.name}`]
      : []),
  ];
}
