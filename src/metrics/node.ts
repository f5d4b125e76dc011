import { singleLine } from '#kernel/text.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import type { Disagreement } from './disagreement.ts';
import type { Register } from './register.ts';
import type { Labels, Sample } from './series.ts';

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
}

/** Shows the nodes that there are, and no others. */
export type ShowNodes = (nodes: readonly NodeState[]) => void;

export function createNodeMetrics(register: Register, disagreement: Disagreement): ShowNodes {
  const families = createFamilies(register);
  const { up, about, ...figures } = families;
  const shown = new Map<string, Readonly<Record<keyof typeof families, Sample>>>();

  function seriesOf(node: string, facts: Labels) {
    const known = shown.get(node);
    if (known !== undefined && isSame(known.about.labels, facts)) return known;
    if (known !== undefined) remove(node);
    const labels = { node };
    const series = {
      up: up.add(labels),
      about: about.add(facts),
      lag: figures.lag.add(labels),
      offset: figures.offset.add(labels),
      roundTrip: figures.roundTrip.add(labels),
      spooled: figures.spooled.add(labels),
      disagreement: figures.disagreement.add(labels),
    };
    shown.set(node, series);
    return series;
  }

  function remove(node: string): void {
    const series = shown.get(node);
    if (series === undefined) return;
    up.remove(series.up);
    about.remove(series.about);
    figures.lag.remove(series.lag);
    figures.offset.remove(series.offset);
    figures.roundTrip.remove(series.roundTrip);
    figures.spooled.remove(series.spooled);
    figures.disagreement.remove(series.disagreement);
    shown.delete(node);
  }

  return (nodes) => {
    const names = new Set(nodes.map(({ info }) => info.name));
    for (const name of shown.keys()) if (!names.has(name)) remove(name);
    for (const { info, version, ...node } of nodes) {
      const { name, country, city, asn } = info;
      const facts = { node: name, country: singleLine(country), city: singleLine(city), asn, version: version ?? '' };
      const series = seriesOf(name, facts);
      series.up.value = node.up ? 1 : 0;
      series.about.value = 1;
      series.lag.value = node.eventLoopLagSeconds;
      series.offset.value = node.clockOffsetSeconds ?? null;
      series.roundTrip.value = node.roundTripSeconds ?? null;
      series.spooled.value = node.spooled ?? null;
      series.disagreement.value = disagreement.ratioOf(name);
    }
  };
}

const isSame = (one: Labels, other: Labels) => Object.keys(other).every((name) => one[name] === other[name]);

function createFamilies(register: Register) {
  return {
    up: register.gauge('watchpost_node_up', '1 for a node that answers, else 0.'),
    about: register.gauge('watchpost_node_info', 'Always 1: where a node is, and its version of Watchpost.'),
    lag: register.gauge('watchpost_node_eventloop_lag_seconds', "How late a node's event loop ran, as it told last."),
    offset: register.gauge('watchpost_node_clock_offset_seconds', "How far a node's clock is ahead of the hub's."),
    roundTrip: register.gauge('watchpost_node_round_trip_seconds', 'How long a question of a node to the hub took.'),
    spooled: register.gauge('watchpost_node_spooled_results', 'Results that a node could not hand in yet.'),
    disagreement: register.gauge(
      'watchpost_node_disagreement_ratio',
      'Share of the answers of a node within the last hour that contradicted most of the other nodes.',
    ),
  };
}
