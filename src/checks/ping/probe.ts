import { messageOf } from '#kernel/errors.ts';
import { onceFor } from '#kernel/once-for.ts';
import type { ProbeEnvironment, Prober } from '../check.ts';
import type { AddressFamily } from '../address.ts';
import { measureFamilies } from '../families.ts';
import { failed, failure, type Outcome } from '../outcome.ts';
import { reach, type ProbeDestination } from '../reach.ts';
import { encodeSocketAddress } from './socket-address.ts';
import type { Detail } from './detail.ts';
import { createExchange, type Exchange } from './exchange.ts';
import { type PingLibc, loadLibc } from './libc.ts';
import { createEchoRequest } from './packet.ts';
import { runSeries } from './series.ts';
import type { Shape } from './shape.ts';
import { openEchoSocket } from './socket.ts';
import { awaitStamps } from './stamps.ts';
import type { Spec } from './spec.ts';
import { shapeOf } from './shape.ts';
import { nameTimeoutMs } from './deadline.ts';
import { summarize } from './summary.ts';

/** One family's exchange, or why this node has none. */
type ExchangeResult =
  | { readonly ok: true; readonly exchange: Exchange }
  | { readonly ok: false; readonly reason: string };

const tokenLength = 8;

/** Opens one ICMP socket per family for all pings of a node. */
export async function start(environment: ProbeEnvironment): Promise<Prober<Spec, Detail>> {
  let libc: PingLibc;
  try {
    libc = await loadLibc();
  } catch (error) {
    return unable(messageOf(error));
  }
  const opened = { 4: await openExchange(libc, 4, environment), 6: await openExchange(libc, 6, environment) };
  if (!opened[4].ok && !opened[6].ok) {
    const remedy = 'set sysctl net.ipv4.ping_group_range="0 2147483647", or give the process CAP_NET_RAW';
    return unable(`ICMP is not permitted (${opened[4].reason}): ${remedy}`);
  }
  return {
    capability: { able: true },
    timedByKernel: 'all',
    probe: async (spec, context) => {
      const { host: name } = spec;
      return measureFamilies<Detail>(spec.family, async (family) =>
        reach<Detail>({ name, family, limitMs: nameTimeoutMs, covers: 'name' }, context, environment, {
          probe: async (site) =>
            sendEchoes(prepare(spec), opened[site.pinned.family], site, environment, context.isPatient === true),
        }),
      );
    },
    async close() {
      for (const one of Object.values(opened)) if (one.ok) one.exchange.close();
    },
  };
}

function unable(reason: string): Prober<Spec, Detail> {
  return {
    capability: { able: false, reason },
    probe: async () => failed(failure('node', 'unsupported', reason)),
    close: async () => {},
  };
}

async function openExchange(
  libc: PingLibc,
  family: AddressFamily,
  environment: ProbeEnvironment,
): Promise<ExchangeResult> {
  const { clock, random, localAddress } = environment;
  const [high = 0, low = 0] = random.bytes(2);
  const options = { family, localAddress: localAddress[family], identifier: (high << 8) | low };
  const opened = openEchoSocket(libc, options);
  if (!opened.ok) return opened;
  await awaitStamps(opened.socket, family, clock);
  return { ok: true, exchange: createExchange(clock, opened.socket) };
}

/** What a ping needs besides what is new in each; made once for each spec. */
interface PingSettings {
  readonly spec: Spec;
  readonly shape: Shape | null;
  /** Beginning with room for the token, then the counting bytes that other pings send too. */
  readonly payload: Uint8Array;
  /** The address that was pinged last, and its socket address. */
  last: { readonly address: string; readonly destination: Uint8Array } | null;
}

const prepare = onceFor((spec: Spec): PingSettings => {
  const payload = Uint8Array.from({ length: spec.size }, (_, index) => index & 0xff);
  return { spec, shape: shapeOf(spec), payload, last: null };
});

function destinationOf(prepared: PingSettings, { address, family }: ProbeDestination['pinned']): Uint8Array {
  if (prepared.last?.address !== address)
    prepared.last = { address, destination: encodeSocketAddress(address, family) };
  return prepared.last.destination;
}

/** Pings what the gate has let through. */
async function sendEchoes(
  prepared: PingSettings,
  opened: ExchangeResult,
  { pinned, phases, signal }: ProbeDestination,
  { clock, random }: ProbeEnvironment,
  isPatient: boolean,
): Promise<Outcome<Detail>> {
  const { address, family } = pinned;
  if (!opened.ok)
    return failed(failure('node', 'unsupported', `no ICMP over IPv${family}: ${opened.reason}`), { address, phases });
  const { exchange } = opened;
  const { spec, shape } = prepared;
  // A token that only hosts on the path can know.
  const payload = prepared.payload.slice();
  payload.set(random.bytes(tokenLength));
  const series = {
    family,
    request: createEchoRequest(family, exchange.identifier, payload),
    destination: destinationOf(prepared, pinned),
    shape,
    count: spec.count,
    intervalMs: spec.interval,
    timeoutMs: spec.timeout,
    isPatient,
  };
  const detail = await runSeries(exchange, clock, series, signal);
  return summarize(detail, { address, phases, timeoutMs: spec.timeout });
}
