import type { Clock } from '#kernel/clock.ts';
import type { Random } from '#kernel/random.ts';
import { singleLine } from '#kernel/text.ts';
import type { AddressFamily } from '../address.ts';
import { describeError, loadLibc, type PingLibc } from '../ping/libc.ts';
import { openConnectionProbes } from './connection-probes.ts';
import { openDatagramProbes } from './datagram-probes.ts';
import { openEchoProbes } from './echo-probes.ts';
import { hopsOf, interimHopsOf } from './hops.ts';
import { measureLarge } from './large.ts';
import type { OpenedPathSocket } from './probe-socket.ts';
import { hasReached, runRounds, type RoundsPlan } from './rounds.ts';
import { runSparingly } from './sparing-probes.ts';
import type { PathProtocol, PathTrace as Trace } from './path-trace.ts';

export type { PathTrace } from './path-trace.ts';

export interface TraceOptions {
  /** The destination, as the gate pinned it. */
  readonly address: string;
  readonly family: AddressFamily;
  readonly protocol: PathProtocol;
  /** Destination port of UDP and TCP; null for ICMP. */
  readonly port: number | null;
  /** 1 to 64; 30 by default. */
  readonly maxHops?: number;
  /** Probes for each hop, 1 to 16; 3 by default. */
  readonly queries?: number;
  /** How long each probe waits for its answer. */
  readonly waitMs: number;
  /** From one probe of a hop to its next one. */
  readonly everyMs?: number;
  /** Whether probes without an answer are to be counted as lost; false by default. */
  readonly countsLoss?: boolean;
  /** Whether to find out which packet size gets through; true by default. */
  readonly measuresSize?: boolean;
  /** Whether the port is a server's own, of which no more than three probes may come to it; for UDP, false by default. */
  readonly sparesPort?: boolean;
  readonly localAddress?: string | undefined;
}

export interface TraceDependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** Takes the path so far, with the end `measuring`, five times a second at the most. */
  readonly onInterim?: ((trace: Trace) => void) | undefined;
}

const defaults = { maxHops: 30, queries: 3, everyMs: 50 } as const;
/** The port that UDP probes go to by default, as of traceroute(8). */
export const unusedPort = 33_434;

let libc: Promise<PingLibc> | undefined;

/** The bindings that paths need, made once for the process. Rejects if this system has none. */
export async function pathLibc(): Promise<PingLibc> {
  return (libc ??= loadLibc());
}

/**
 * Measures the path to an address: all hops at once, so that it takes little more than `waitMs` and the probes' own pace. All probes of a
 * measurement have the same ports or, for ICMP, checksum, so that routers with several paths send them along one (Paris traceroute);
 * those of TCP have a source port each. Needs no privileges for UDP and TCP. Rejects with the signal's reason when aborted;
 * what keeps it from sending is the end `error`.
 */
export async function tracePath(
  options: TraceOptions,
  { clock, random, onInterim }: TraceDependencies,
  signal: AbortSignal,
): Promise<Trace> {
  const { address, family, protocol, waitMs, localAddress } = options;
  const maxHops = options.maxHops ?? defaults.maxHops;
  const rounds = options.queries ?? defaults.queries;
  const roundMs = options.everyMs ?? defaults.everyMs;
  const port = protocol === 'icmp' ? null : (options.port ?? unusedPort);
  const subject = { protocol, port, address, family } as const;
  signal.throwIfAborted();
  const libc = await pathLibc();
  const opened = open(libc, { address, family, protocol, port: port ?? 0, localAddress, random });
  if (!opened.ok) return { ...subject, hops: [], end: 'error', mtu: null, error: singleLine(opened.reason) };
  const echoes =
    options.measuresSize === false ? null : openEchoProbes(libc, { address, family, localAddress, random });
  const plan: RoundsPlan = {
    protocol,
    address,
    maxHops,
    rounds,
    roundMs,
    waitMs,
    countsLoss: options.countsLoss === true,
  };
  try {
    const [result, size] = await Promise.all([
      options.sparesPort === true && protocol === 'udp'
        ? runSparingly(
            opened.socket,
            {
              plan,
              clock,
              findDistance: async (signal) => findDistance(libc, plan, options, { clock, random }, signal),
            },
            signal,
          )
        : runRounds(
            opened.socket,
            plan,
            {
              clock,
              onInterim:
                onInterim && ((rounds) => onInterim({ ...subject, ...interimHopsOf(plan, rounds), mtu: null })),
            },
            signal,
          ),
      echoes?.ok === true ? measureLarge(echoes.socket, { maxHops, waitMs }, clock, signal) : null,
    ]);
    return {
      ...subject,
      ...hopsOf(plan, result),
      mtu: size?.mtu ?? null,
      ...(size !== null && size.large !== null && { large: size.large }),
      ...(result.errno !== null && result.lastHop === null && { error: describeError(result.errno) }),
    };
  } finally {
    opened.socket.close();
    if (echoes?.ok === true) echoes.socket.close();
  }
}

// By ICMP, one probe for each hop.
async function findDistance(
  libc: PingLibc,
  plan: RoundsPlan,
  { address, family, localAddress }: TraceOptions,
  { clock, random }: TraceDependencies,
  signal: AbortSignal,
): Promise<number | null> {
  const opened = openEchoProbes(libc, { address, family, localAddress, random });
  if (!opened.ok) return null;
  try {
    const icmp: RoundsPlan = { ...plan, protocol: 'icmp', rounds: 1 };
    const { probes, lastHop } = await runRounds(opened.socket, icmp, { clock }, signal);
    const isReached = probes.some(({ hop, answer }) => hop === lastHop && answer !== null && hasReached(icmp, answer));
    return isReached ? lastHop : null;
  } finally {
    opened.socket.close();
  }
}

interface TraceSocketOptions {
  readonly address: string;
  readonly family: AddressFamily;
  readonly protocol: PathProtocol;
  readonly port: number;
  readonly localAddress: string | undefined;
  readonly random: Random;
}

function open(libc: PingLibc, { protocol, ...options }: TraceSocketOptions): OpenedPathSocket {
  if (protocol === 'icmp') return openEchoProbes(libc, options);
  if (protocol === 'tcp') return openConnectionProbes(libc, options);
  return openDatagramProbes(libc, { ...options, sourcePort: sourcePortFor(options.address) });
}

// The same port for the same address, so that the path is the same from one measurement to the next; below those that systems give.
const sourcePorts = { first: 20_000, count: 10_000 } as const;

function sourcePortFor(address: string): number {
  let hash = 0;
  for (const character of address) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % sourcePorts.count;
  return sourcePorts.first + hash;
}
