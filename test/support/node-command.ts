import { CheckSpec } from '#checks/index.ts';
import type { NodeCommand } from '#service/ports.ts';

/** What a node is asked to do once: a tcp check, which may reach this machine. */
export function tcpCommand(host: string, more: Partial<NodeCommand> = {}): NodeCommand {
  return { spec: CheckSpec.parse({ type: 'tcp', host }), policy: 'private', deadlineMs: 5_000, ...more };
}
