import { singleLine } from '#kernel/text.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import type { Disagreement } from './disagreement.ts';
import type { Register } from './register.ts';

/** How a node is; null or absent is what is not known of it, or does not apply to one in this process. */
export interface NodeState {
  readonly info: Vote['node'];
  /** Whether it answers. */
  readonly up: boolean;
  /** How late its event loop ran. */
  readonly eventLoopLagSeconds: number | null;
  /** The version of the program that runs it. */
  readonly version?: string | null | undefined;
  /** How far its clock is ahead of ours. */
  readonly clockOffsetSeconds?: number | null | undefined;
  /** How long a question to us takes it. */
  readonly roundTripSeconds?: number | null | undefined;
  /** How many results wait there to be handed in. */
  readonly spooled?: number | null | undefined;
  /** How many of its results this hub refused since it began. */
  readonly refusedResults?: number | undefined;
  /** Results that it dropped or that were refused, and rounds that it did not begin, since it started. */
  readonly losses?:
    | {
        readonly dropped: number;
        readonly refused: number;
        readonly skipped: number;
        readonly hub_overload?: number | undefined;
      }
    | undefined;
}

/** Shows the nodes that there are, and no others. */
export type ShowNodes = (nodes: readonly NodeState[]) => void;

export function createNodeMetrics(register: Register, disagreement: Disagreement): ShowNodes {
  const { up, about, lag, offset, roundTrip, spooled, contradicting, lost, refused } = createGauges(register);
  return (nodes) => {
    for (const family of [up, about, lag, offset, roundTrip, spooled, contradicting, lost, refused]) family.clear();
    for (const { info, version, ...of } of nodes) {
      const { name: node, country, city, asn } = info;
      about.of({ node, country: singleLine(country), city: singleLine(city), asn, version: version ?? '' }).value = 1;
      const figures = [
        [up, of.up ? 1 : 0],
        [lag, of.eventLoopLagSeconds],
        [offset, of.clockOffsetSeconds],
        [roundTrip, of.roundTripSeconds],
        [spooled, of.spooled],
        [contradicting, disagreement.ratioOf(node)],
      ] as const;
      for (const [reason, count = 0] of Object.entries(of.losses ?? {})) lost.of({ node, reason }).add(count);
      if (of.refusedResults !== undefined) refused.of({ node }).add(of.refusedResults);
      for (const [gauge, value] of figures) if (typeof value === 'number') gauge.of({ node }).value = value;
    }
  };
}

function createGauges(register: Register) {
  const gauge = (name: string, help: string) => register.gauge(name, help);
  return {
    up: gauge('watchpost_node_up', '1 for a node that answers, else 0.'),
    about: register.gauge('watchpost_node_info', 'Always 1: where a node is, and its version of Watchpost.'),
    lag: gauge('watchpost_node_eventloop_lag_seconds', "How late a node's event loop ran, by its last report."),
    offset: gauge('watchpost_node_clock_offset_seconds', "How far a node's clock is ahead of the hub's."),
    roundTrip: gauge('watchpost_node_round_trip_seconds', 'How long a question of a node to the hub took.'),
    spooled: gauge('watchpost_node_spooled_results', 'Results that a node could not hand in yet.'),
    lost: register.counter(
      'watchpost_node_lost_results_total',
      'Results that a node dropped, that the hub refused, or that a held-up node never had, since its start.',
    ),
    refused: register.counter(
      'watchpost_node_refused_results_total',
      'Results that this hub refused: of rounds that are not due, or that are no outcomes. A node whose count grows may be misused.',
    ),
    contradicting: gauge(
      'watchpost_node_disagreement_ratio',
      'Share of the answers of a node within the last hour that contradicted most of the other nodes.',
    ),
  };
}
