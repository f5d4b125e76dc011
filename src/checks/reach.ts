import { isIP } from 'node:net';
import { deadline } from '#kernel/clock.ts';
import type { ProbeEnvironment, ProbeContext } from './check.ts';
import {
  closeSocket,
  type Connection,
  type DataReceiver,
  type ConnectionFailure,
  openConnection,
} from './connection.ts';
import type { MeasuredFamily } from './families.ts';
import { openFastest } from './happy-eyeballs.ts';
import type { Gate, PinnedAddress, GateRefusal } from './gate.ts';
import { failed, type Outcome } from './outcome.ts';
import { judgeOwnFault } from './own-fault.ts';
import { loadPathChanges } from './path-changes.ts';
import {
  limitedBytes,
  loadArrivalAgeReader,
  loadHandshakeReader,
  loadReceiveLimit,
  loadSentAgeReader,
} from './tcp-info.ts';

/** Where a probe goes, and how much time it has. */
export interface Destination {
  /** A host name or an address. */
  readonly name: string;
  readonly family?: MeasuredFamily;
  readonly limitMs: number;
  /** What must be done in this time: the name alone, or the whole check. */
  readonly covers: 'name' | 'check';
}

/** Names and connections, for as long as there is time. */
export interface Network {
  /** Aborted by a `DeadlineError` when the time is up, or when the check is cancelled. */
  readonly signal: AbortSignal;
  /** Resolves a name, within what is left of the time. */
  readonly pin: (name: string) => Promise<PinnedAddress | GateRefusal>;
  /** Connects to a pinned address. The connection is closed when `use` has ended, however it ends. */
  readonly connect: <T>(
    pinned: PinnedAddress,
    port: number,
    use: (connection: Connection | ConnectionFailure) => Promise<T>,
    options?: ReceiveOptions,
  ) => Promise<T>;
}

/** How what comes in on a connection is read. */
export interface ReceiveOptions {
  readonly incoming?: DataReceiver | undefined;
  /** The most that is read; up to 64 KiB, the default, the kernel buffers little more. */
  readonly mostBytes?: number;
}

/** A destination whose name has become an address that may be probed. */
export interface ProbeDestination extends Network {
  readonly pinned: PinnedAddress;
  /** `resolve` if there was a name to resolve. */
  readonly phases: { readonly resolve?: number };
}

export interface ReachSteps<Detail> {
  /** What is done at the destination. An expired deadline is for it to judge. */
  readonly probe: (site: ProbeDestination) => Promise<Outcome<Detail>>;
  /** The outcome where the name leads nowhere or the address is refused. */
  readonly unreached?: (refused: GateRefusal, phases: ProbeDestination['phases']) => Outcome<Detail>;
}

/**
 * The way every probe begins and ends: its time, its name, the gate, its connections. Rejects with the outer signal's reason
 * as soon as that is aborted, whatever the probe made of it, so that a shutdown never looks like an outage.
 */
export async function reach<Detail>(
  { name, family, limitMs, covers }: Destination,
  { gate, signal: outer }: ProbeContext,
  environment: ProbeEnvironment,
  { probe, unreached = fail }: ReachSteps<Detail>,
): Promise<Outcome<Detail>> {
  outer.throwIfAborted();
  const changes = await loadPathChanges();
  const meanwhile = { changes, mark: changes.mark(environment.clock.elapsed()) };
  const isAddress = isIP(name) !== 0;
  // There is nothing to wait for if an address is its own name.
  using limit = isAddress && covers === 'name' ? null : deadline(environment.clock, limitMs, outer);
  const limited = limit?.signal ?? outer;
  const races = family === 'happy_eyeballs';
  const pin = async (name: string) => gate.pin(name, { family: races ? undefined : family, signal: limited });
  const pinned = await pin(name);
  outer.throwIfAborted();
  const phases = isAddress ? {} : { resolve: pinned.seconds };
  if (!pinned.ok) return await judgeOwnFault(unreached(pinned, phases), meanwhile);
  if (covers === 'name') limit?.[Symbol.dispose]();
  const signal = covers === 'name' ? outer : limited;
  const network = networkOver(pin, { signal, gate, environment, races });
  const measured = await probe({ pinned, phases, ...network });
  outer.throwIfAborted();
  const outcome = races ? withConnected(measured, network.connected()) : measured;
  return outcome.status === 'up' ? outcome : await judgeOwnFault(outcome, meanwhile);
}

export interface ReachLimits {
  readonly family?: MeasuredFamily;
  readonly limitMs: number;
}

/** Does something that has no one destination within a time of its own. Rejects as `reach` does. */
export async function within<T>(
  { family, limitMs }: ReachLimits,
  { gate, signal: outer }: ProbeContext,
  environment: ProbeEnvironment,
  use: (network: Network) => Promise<T>,
): Promise<T> {
  outer.throwIfAborted();
  using limit = deadline(environment.clock, limitMs, outer);
  const races = family === 'happy_eyeballs';
  const pin = async (name: string) => gate.pin(name, { family: races ? undefined : family, signal: limit.signal });
  const result = await use(networkOver(pin, { signal: limit.signal, gate, environment, races }));
  outer.throwIfAborted();
  return result;
}

interface NetworkOptions {
  readonly signal: AbortSignal;
  readonly gate: Gate;
  readonly environment: ProbeEnvironment;
  /** Whether connections are opened to all addresses of a name in turn, and the first is used (RFC 8305). */
  readonly races: boolean;
}

function networkOver(
  pin: Network['pin'],
  { signal, gate, environment, races }: NetworkOptions,
): Network & { connected(): PinnedAddress | null } {
  let connected: PinnedAddress | null = null;
  return {
    signal,
    pin,
    connected: () => connected,
    async connect(pinned, port, use, { incoming, mostBytes = limitedBytes } = {}) {
      const readHandshake = await loadHandshakeReader();
      const readArrivalAge = await loadArrivalAgeReader();
      const readSentAge = await loadSentAgeReader();
      const limitReceiving = mostBytes > limitedBytes ? () => {} : await loadReceiveLimit();
      const options = {
        environment,
        gate,
        readHandshake,
        readArrivalAge,
        readSentAge,
        limitReceiving,
        signal,
        incoming,
      };
      const connection = races
        ? await openFastest(pinned, environment.clock, signal, async (one, attempt) =>
            openConnection(one, port, { ...options, signal: attempt }),
          )
        : await openConnection(pinned, port, options);
      if (connection.ok) connected = connection.pinned;
      try {
        return await use(connection);
      } finally {
        if (connection.ok) await closeSocket(connection.socket);
      }
    },
  };
}

// The probe knows the address that it asked for, not the one that answered first.
function withConnected<Detail>(outcome: Outcome<Detail>, connected: PinnedAddress | null): Outcome<Detail> {
  if (connected === null) return outcome;
  const { address, family } = connected;
  return { ...outcome, address, facts: { ...outcome.facts, ip_protocol: family } };
}

function fail({ failure }: GateRefusal, phases: ProbeDestination['phases']): Outcome<never> {
  return failed(failure, { phases });
}
