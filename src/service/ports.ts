import {
  type Capability,
  type CheckSpec,
  type CheckTypeName,
  failed,
  failure,
  type NodeInfo,
  type Outcome,
  type Policy,
} from '#checks/index.ts';

/** One check for one node, as it is sent. */
export interface NodeCommand {
  readonly spec: CheckSpec;
  readonly policy: Policy;
  readonly deadlineMs: number;
  /** The name of the run where its results are stored: what a result that comes late is stored under. */
  readonly run?: string | undefined;
}

export interface NodeStatus {
  readonly info: NodeInfo;
  readonly online: boolean;
  /** Why it is not online, or null. */
  readonly reason: string | null;
  readonly capabilities: Readonly<Partial<Record<CheckTypeName, Capability>>>;
  readonly running: number;
  readonly queued: number;
  readonly lagSeconds: number;
  /** How far its clock is ahead of ours; null or absent where that is not known, or the clock is the same. */
  readonly clockOffsetSeconds?: number | null;
}

/** How the service reaches nodes: threads of this process, or other machines. */
export interface Transport {
  nodes(): readonly NodeStatus[];
  /**
   * Runs a command on the named node. Resolves to an outcome also where the node is gone, dies or refuses (unknown, source
   * `node`); rejects only with the signal's reason.
   */
  run(node: string, command: NodeCommand, signal: AbortSignal): Promise<Outcome>;
  close(): Promise<void>;
}

/** The outcome of a check whose node is not there, or went away in the middle. */
export function gone(message: string): Outcome {
  return failed(failure('node', 'gone', message));
}
