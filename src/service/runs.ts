import { checkOf, type CheckSpec, failed, failure, type NodeInfo, type Outcome, type Policy } from '#checks/index.ts';
import { type Clock, deadline } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { type NodeSelection, selectNodes } from './select.ts';
import type { NodeStatus, Transport } from './ports.ts';

export interface RunRequest {
  readonly spec: CheckSpec;
  readonly nodes: NodeSelection;
  /** What this run may reach. */
  readonly policy: Policy;
  /** The name that its results are stored under, where they are. */
  readonly name?: string | undefined;
}

export interface NodeOutcome {
  readonly node: NodeInfo;
  readonly outcome: Outcome;
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
   * Rejects with `no_nodes` where the selection is empty, or with the signal's reason.
   */
  run(request: RunRequest, signal: AbortSignal): Promise<readonly NodeOutcome[]>;
}

// What a node may take besides the probe itself: waiting in its queue and the way there and back.
const graceMs = 5_000;

export function createRuns(transport: Transport, clock: Clock): Runs {
  return {
    nodes: () => transport.nodes(),
    async run({ spec, nodes, policy, name }, signal) {
      const selected = selectNodes(transport.nodes(), nodes);
      if (selected.length === 0) throw new WatchpostError('no_nodes', 'there is no node to run this check on');
      const deadlineMs = checkOf(spec.type).deadlineMs(spec);

      const ask = async ({ info }: NodeStatus): Promise<NodeOutcome> => {
        using limit = deadline(clock, deadlineMs + graceMs, signal);
        try {
          return {
            node: info,
            outcome: await transport.run(info.name, { spec, policy, deadlineMs, run: name }, limit.signal),
          };
        } catch (error) {
          if (!limit.expired) throw error;
          const late = failure('node', 'no_answer', `the node did not answer within ${deadlineMs + graceMs} ms`);
          return { node: info, outcome: failed(late) };
        }
      };
      return Promise.all(selected.map(ask));
    },
  };
}
