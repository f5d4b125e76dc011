import { singleLine } from '#kernel/text.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import type { Register } from './register.ts';

export interface NodeState {
  readonly info: Vote['node'];
  /** Whether it answers. */
  readonly up: boolean;
  /** How late its event loop ran, or null where it has not told. */
  readonly eventLoopLagSeconds: number | null;
}

/** Shows the nodes that there are, and no others. */
export type ShowNodes = (nodes: readonly NodeState[]) => void;

export function createNodeMetrics(register: Register): ShowNodes {
  const up = register.gauge('watchpost_node_up', '1 for a node that answers, else 0.');
  const about = register.gauge('watchpost_node_info', 'Always 1: where a node is.');
  const lag = register.gauge(
    'watchpost_node_eventloop_lag_seconds',
    "How late a node's event loop ran, as it told last.",
  );

  return (nodes) => {
    for (const family of [up, about, lag]) family.clear();
    for (const { info, up: answers, eventLoopLagSeconds } of nodes) {
      const node = info.name;
      up.of({ node }).value = answers ? 1 : 0;
      about.of({ node, country: singleLine(info.country), city: singleLine(info.city), asn: info.asn }).value = 1;
      lag.of({ node }).value = eventLoopLagSeconds;
    }
  };
}
