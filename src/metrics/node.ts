import { Gauge, type Registry } from 'prom-client';
import { singleLine } from '#kernel/text.ts';
import type { Vote } from '#monitor/judge/vote.ts';

export interface NodeState {
  readonly info: Vote['node'];
  /** Whether it answers. */
  readonly up: boolean;
  /** How late its event loop ran, or null where it has not told. */
  readonly eventLoopLagSeconds: number | null;
}

/** Shows the nodes that there are, and no others. */
export type ShowNodes = (nodes: readonly NodeState[]) => void;

export function createNodeMetrics(registry: Registry): ShowNodes {
  const registers = [registry];
  const up = new Gauge({
    name: 'watchpost_node_up',
    help: '1 for a node that answers, else 0.',
    labelNames: ['node'] as const,
    registers,
  });
  const about = new Gauge({
    name: 'watchpost_node_info',
    help: 'Always 1: where a node is.',
    labelNames: ['node', 'country', 'city', 'asn'] as const,
    registers,
  });
  const lag = new Gauge({
    name: 'watchpost_node_eventloop_lag_seconds',
    help: "How late a node's event loop ran, as it told last.",
    labelNames: ['node'] as const,
    registers,
  });

  return (nodes) => {
    for (const gauge of [up, about, lag]) gauge.reset();
    for (const { info, up: answers, eventLoopLagSeconds } of nodes) {
      const node = info.name;
      up.set({ node }, answers ? 1 : 0);
      about.set({ node, country: singleLine(info.country), city: singleLine(info.city), asn: info.asn }, 1);
      if (eventLoopLagSeconds !== null) lag.set({ node }, eventLoopLagSeconds);
    }
  };
}
