import type { CheckSpec, NodeInfo, NodeSelection } from '#checks/index.ts';
import type { Vote } from '../judge/vote.ts';

export interface RunRequest {
  readonly spec: CheckSpec;
  readonly nodes: NodeSelection;
  /** The round that this run is for. */
  readonly round?: { readonly target: string; readonly dueAt: number } | undefined;
}

export interface RunResult {
  /** One vote for each selected node, always: a node that did not answer has an unknown outcome. */
  readonly votes: readonly Vote[];
  /** The page that shows this run, where there is one. */
  readonly reportUrl: string | null;
}

/** Runs checks on nodes: the service in this process, or another one over HTTP. The monitor cannot tell which. */
export interface Runner {
  /** Where the checks run, if that is somebody else's service: its URL. */
  readonly url?: string;
  /** The nodes there are now, whether they answer or not. */
  nodes(): readonly NodeInfo[];
  /** Rejects with `no_nodes` where the selection is empty, or with the signal's reason. */
  run(request: RunRequest, signal: AbortSignal): Promise<RunResult>;
}
