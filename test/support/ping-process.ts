import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Capability, Outcome } from '#checks/index.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { ping } from '#checks/ping/index.ts';
import type { NetworkNamespace } from './network-namespace.ts';

/** A process that pings from inside a network namespace. It ends with the namespace. */
export interface PingProcess {
  readonly capability: Capability;
  probe(host: string, options?: Record<string, unknown>): Promise<PingOutcome>;
}

const Reply = z.strictObject({ id: z.int(), outcome: outcomeOf(ping.Detail) });
type PingOutcome = Outcome<z.infer<typeof ping.Detail>>;

/** `prefix` is a command that runs the process, `setpriv` for instance. */
export async function startPingProcess(
  namespace: NetworkNamespace,
  prefix: readonly string[] = [],
): Promise<PingProcess> {
  const script = fileURLToPath(new URL('ping-lines.ts', import.meta.url));
  const { stdin, stdout } = namespace.start([...prefix, process.execPath, script]);
  if (stdin === null || stdout === null) throw new Error('the process has no pipes');
  const waiting = new Map<number, (outcome: PingOutcome) => void>();
  let next = 0;
  const capability = await new Promise<Capability>((resolve, reject) => {
    const lines = createInterface({ input: stdout });
    lines.once('line', (first) => {
      resolve(JSON.parse(first) as Capability);
      lines.on('line', (line) => {
        const { id, outcome } = Reply.parse(JSON.parse(line));
        waiting.get(id)?.(outcome);
        waiting.delete(id);
      });
    });
    lines.once('close', () => reject(new Error('the process ended')));
  });
  return {
    capability,
    async probe(host, options = {}) {
      next += 1;
      const id = next;
      const { promise, resolve } = Promise.withResolvers<PingOutcome>();
      waiting.set(id, resolve);
      stdin.write(`${JSON.stringify({ id, spec: { type: 'ping', host, ...options } })}\n`);
      return promise;
    },
  };
}
