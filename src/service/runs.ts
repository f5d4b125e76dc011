import {
  checkOf,
  type CheckSpec,
  failed,
  failure,
  type NodeInfo,
  type NodeSelection,
  type Outcome,
  type Policy,
} from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { createDeadlines } from '#kernel/deadlines.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { NodeCommand, NodeStatus, Transport } from './ports.ts';
import { selectNodes } from './select.ts';

export interface ServiceRunRequest {
  readonly spec: CheckSpec;
  readonly nodes: NodeSelection;
  /** What this run may reach. */
  readonly policy: Policy;
  /** The name that its results are stored under, if they are. */
  readonly name?: string | undefined;
  /** For whom it is, by default the monitor. */
  readonly origin?: NodeCommand['origin'];
}

export interface NodeOutcome {
  readonly node: NodeInfo;
  readonly outcome: Outcome;
  /** When the check began on the node, by our clock in milliseconds since the epoch, if that is known. */
  readonly startedAt?: number | undefined;
}

export interface Runs {
  nodes(): readonly NodeStatus[];
  /**
   * Sends a spec to the selected nodes and collects one outcome from each:
   *
   * 1. every node gets the command at once;
   * 2. a node that has not answered by the check type's deadline and a grace ends as a node fault;
   * 3. the outcomes come in the order of the node list.
   *
   * Rejects with `no_nodes` if the selection is empty, or with the signal's reason.
   */
  run(request: ServiceRunRequest, signal: AbortSignal): Promise<readonly NodeOutcome[]>;
  /** The same for nodes that were selected before; the listener is called with each outcome as it comes. */
  runOn(
    nodes: readonly NodeInfo[],
    command: Pick<ServiceRunRequest, 'spec' | 'policy' | 'name' | 'origin'>,
    signal: AbortSignal,
    listener: NodeOutcomeListener,
  ): Promise<readonly NodeOutcome[]>;
}

export interface NodeOutcomeListener {
  readonly onOutcome?: (outcome: NodeOutcome) => void;
  /** Takes what a node has measured so far, in the shape of the type's `Detail`. */
  readonly onInterim?: (node: NodeInfo, detail: unknown) => void;
}

// What a node may take besides the probe itself: waiting in its queue and the way there and back.
export const graceMs = 5_000;

export function createRuns(transport: Pick<Transport, 'nodes' | 'run'>, clock: Clock): Runs {
  const limits = createDeadlines(clock);

  const runOn: Runs['runOn'] = async (nodes, { spec, policy, name, origin }, signal, listener) => {
    const deadlineMs = checkOf(spec.type).deadlineMs(spec);
    const { onOutcome, onInterim } = listener;
    const wantsInterim = onInterim !== undefined && checkOf(spec.type).givesInterim ? true : undefined;
    const command: NodeCommand = { spec, policy, deadlineMs, run: name, origin, wantsInterim };
    using limit = limits.begin(deadlineMs + graceMs, signal);

    const ask = async (node: NodeInfo): Promise<NodeOutcome> => {
      let startedAt: number | undefined;
      let outcome: Outcome;
      try {
        outcome = await transport.run(node.name, command, limit.signal, {
          onStarted: (at) => (startedAt = at),
          ...(onInterim !== undefined && { onInterim: (detail) => onInterim(node, detail) }),
        });
      } catch (error) {
        if (!limit.expired) throw error;
        outcome = failed(failure('node', 'no_answer', `the node did not answer within ${deadlineMs + graceMs} ms`));
      }
      const seen = { node, outcome, startedAt };
      onOutcome?.(seen);
      return seen;
    };
    return await Promise.all(nodes.map(ask));
  };

  return {
    nodes: () => transport.nodes(),
    runOn,
    async run({ nodes, ...command }, signal) {
      const selected = selectNodes(transport.nodes(), nodes);
      if (selected.length === 0) throw new WatchpostError('no_nodes', 'no node can run this check');
      const infos = selected.map(({ info }) => info);
      return runOn(infos, command, signal, {});
    },
  };
}

/** Several transports as one: a node belongs to the first that has its name, and what none has is asked of the last. */
export function joinTransports(others: readonly Transport[], last: Transport): Transport {
  const transports = [...others, last];
  // The last one, which may have hundreds of nodes, does not list all of them for each command.
  const ownerOf = (name: string) => others.find((one) => one.nodes().some(({ info }) => info.name === name)) ?? last;
  return {
    nodes() {
      const seen = new Set<string>();
      return transports.flatMap((transport) =>
        transport.nodes().filter(({ info }) => !seen.has(info.name) && seen.add(info.name)),
      );
    },
    run: async (name, ...command) => ownerOf(name).run(name, ...command),
    assign: (name, assignment) => ownerOf(name).assign(name, assignment),
    listen(listener) {
      for (const transport of transports) transport.listen(listener);
    },
    async close() {
      await Promise.all(transports.map(async (transport) => transport.close()));
    },
  };
}
