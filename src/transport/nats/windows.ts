import { shareOfApi } from '#node/ports.ts';
import type { NodeCommand } from '#service/ports.ts';

type CommandOrigin = NonNullable<NodeCommand['origin']>;

/** A process of a node that can be sent commands. */
export interface WindowProcess {
  readonly process: string;
  /** How many commands it takes on at the same time. */
  readonly capacity: number;
}

/** Room for a command at a process. */
export interface WindowSlot {
  readonly process: string;
  /** Resolves when the command may be sent, or is over. */
  readonly sendable: Promise<void>;
  /** The process has taken the command on. */
  accept(): void;
  /** The command is over. Idempotent. */
  free(): void;
}

/** How much each process of each node has to do for this hub: what is beyond its capacity is not sent at all. */
export interface Windows {
  /** A place at the process with the least to do, or in words why there is none. */
  take(recipients: readonly WindowProcess[], origin: CommandOrigin): WindowSlot | string;
}

interface WaitingCommand {
  state: 'queued' | 'sent' | 'accepted' | 'over';
  readonly send: () => void;
}

interface WindowLoad {
  inFlight: number;
  ofApi: number;
  /** Sent, and not yet taken on: what waits at NATS or in the socket of the process. */
  sent: number;
  readonly queues: Readonly<Record<CommandOrigin, WaitingCommand[]>>;
}

const mostSent = 256;

export function createWindows(): Windows {
  const loads = new Map<string, WindowLoad>();
  let offset = 0;

  const loadOf = (process: string) => loads.get(process)?.inFlight ?? 0;

  const hasRoom = ({ process, capacity }: WindowProcess, origin: CommandOrigin): boolean => {
    const load = loads.get(process);
    if (load === undefined) return true;
    return load.inFlight < capacity && (origin !== 'api' || load.ofApi < Math.max(1, capacity * shareOfApi));
  };

  // Equals take turns.
  const choose = (recipients: readonly WindowProcess[], origin: CommandOrigin): WindowProcess | null => {
    offset += 1;
    let best: WindowProcess | null = null;
    for (let index = 0; index < recipients.length; index += 1) {
      const one = recipients[(index + offset) % recipients.length];
      if (one === undefined || !hasRoom(one, origin)) continue;
      if (best === null || loadOf(one.process) < loadOf(best.process)) best = one;
    }
    return best;
  };

  const open = (process: string): WindowLoad => {
    const load = loads.get(process) ?? { inFlight: 0, ofApi: 0, sent: 0, queues: { monitor: [], api: [] } };
    loads.set(process, load);
    return load;
  };

  return {
    take(recipients, origin) {
      const process = choose(recipients, origin)?.process;
      if (process === undefined) return busy(recipients.reduce((sum, one) => sum + loadOf(one.process), 0));
      const load = open(process);
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiting: WaitingCommand = { state: 'queued', send: resolve };
      load.inFlight += 1;
      if (origin === 'api') load.ofApi += 1;
      load.queues[origin].push(waiting);
      pump(load);
      return {
        process,
        sendable: promise,
        accept: () => leave(load, waiting, 'accepted'),
        free() {
          if (waiting.state === 'over') return;
          leave(load, waiting, 'over');
          resolve();
          load.inFlight -= 1;
          if (origin === 'api') load.ofApi -= 1;
          if (load.inFlight === 0) loads.delete(process);
        },
      };
    },
  };
}

function leave(load: WindowLoad, waiting: WaitingCommand, state: 'accepted' | 'over'): void {
  if (waiting.state === 'over') return;
  if (waiting.state === 'sent') load.sent -= 1;
  waiting.state = state;
  pump(load);
}

// The monitor's go first.
function pump(load: WindowLoad): void {
  while (load.sent < mostSent) {
    const next = load.queues.monitor.shift() ?? load.queues.api.shift();
    if (next === undefined) return;
    if (next.state !== 'queued') continue;
    next.state = 'sent';
    load.sent += 1;
    next.send();
  }
}

const busy = (count: number) => `busy: ${count} checks of this hub are under way there`;
