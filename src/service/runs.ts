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
import { type Clock, deadline } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { NodeStatus, Transport } from './ports.ts';
import { selectNodes } from './select.ts';

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
  /** The same for nodes that were selected before; `onOutcome` hears of each outcome as it comes. */
  runOn(
    nodes: readonly NodeInfo[],
    command: Pick<RunRequest, 'spec' | 'policy' | 'name'>,
    signal: AbortSignal,
    onOutcome: (outcome: NodeOutcome) => void,
  ): Promise<readonly NodeOutcome[]>;
}

// What a node may take besides the probe itself: waiting in its queue and the way there and back.
const graceMs = 5_000;

export function createRuns(transport: Transport, clock: Clock): Runs {
  const runOn: Runs['runOn'] = async (nodes, { spec, policy, name }, signal, onOutcome) => {
    const deadlineMs = checkOf(spec.type).deadlineMs(spec);

    const ask = async (node: NodeInfo): Promise<Outcome> => {
      using limit = deadline(clock, deadlineMs + graceMs, signal);
      try {
        return await transport.run(node.name, { spec, policy, deadlineMs, run: name }, limit.signal);
      } catch (error) {
        if (!limit.expired) throw error;
        return failed(failure('node', 'no_answer', `the node did not answer within ${deadlineMs + graceMs} ms`));
      }
    };
    return Promise.all(
      nodes.map(async (node) => {
        const answer = { node, outcome: await ask(node) };
        onOutcome(answer);
        return answer;
      }),
    );
  };

  return {
    nodes: () => transport.nodes(),
    runOn,
    async run({ nodes, ...command }, signal) {
      const selected = selectNodes(transport.nodes(), nodes);
      if (selected.length === 0) throw new WatchpostError('no_nodes', 'there is no node to run this check on');
      const infos = selected.map(({ info }) => info);
      return runOn(infos, command, signal, () => {});
    },
  };
}
