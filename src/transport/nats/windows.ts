import type { NodeCommand } from '#service/ports.ts';

type Origin = NonNullable<NodeCommand['origin']>;

/** A process of a node that can be sent commands. */
export interface Recipient {
  readonly process: string;
  /** How many commands it takes on at the same time. */
  readonly capacity: number;
}

/** A command that takes up room at a process. */
export interface Place {
  readonly process: string;
  /** The process has taken the command on. */
  accept(): void;
  /** The command is over. Idempotent. */
  free(): void;
}

/** How much each process of each node has to do: what is beyond its window is not sent at all. */
export interface Windows {
  /** A place at the process with the least to do, or why there is none. */
  take(recipients: readonly Recipient[], origin: Origin): Place | string;
}

interface Load {
  inFlight: number;
  /** Sent, and not yet taken on: as much waits at NATS or in the socket of a slow process. */
  sent: number;
  ofApi: { inFlight: number; sent: number };
}

const mostSent = 256;
// Whoever uses the API leaves the other half to the monitor.
const shareOfApi = 0.5;

export function createWindows(): Windows {
  const loads = new Map<string, Load>();
  let turn = 0;

  const hasRoom = ({ process, capacity }: Recipient, origin: Origin): boolean => {
    const load = loads.get(process);
    if (load === undefined) return true;
    if (load.inFlight >= capacity || load.sent >= mostSent) return false;
    if (origin !== 'api') return true;
    return load.ofApi.inFlight < capacity * shareOfApi && load.ofApi.sent < mostSent * shareOfApi;
  };

  const loadOf = ({ process }: Recipient) => loads.get(process)?.inFlight ?? 0;

  // Equals take turns.
  const choose = (recipients: readonly Recipient[], origin: Origin): Recipient | null => {
    turn += 1;
    let best: Recipient | null = null;
    for (let index = 0; index < recipients.length; index += 1) {
      const one = recipients[(index + turn) % recipients.length];
      if (one === undefined || !hasRoom(one, origin)) continue;
      if (best === null || loadOf(one) < loadOf(best)) best = one;
    }
    return best;
  };

  const add = (process: string, origin: Origin, key: 'inFlight' | 'sent', count: 1 | -1): void => {
    const load = loads.get(process) ?? { inFlight: 0, sent: 0, ofApi: { inFlight: 0, sent: 0 } };
    loads.set(process, load);
    load[key] += count;
    if (origin === 'api') load.ofApi[key] += count;
    if (load.inFlight === 0) loads.delete(process);
  };

  return {
    take(recipients, origin) {
      const recipient = choose(recipients, origin);
      if (recipient === null) return busy(recipients.map(loadOf));
      const { process } = recipient;
      let isSent = true;
      let isOver = false;
      add(process, origin, 'inFlight', 1);
      add(process, origin, 'sent', 1);
      const accept = () => {
        if (isSent) add(process, origin, 'sent', -1);
        isSent = false;
      };
      return {
        process,
        accept,
        free() {
          if (isOver) return;
          isOver = true;
          accept();
          add(process, origin, 'inFlight', -1);
        },
      };
    },
  };
}

const busy = (loads: readonly number[]) =>
  `busy: ${loads.reduce((sum, load) => sum + load, 0)} checks of this hub are under way there`;
