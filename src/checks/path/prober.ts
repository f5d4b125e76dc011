import { messageOf } from '#kernel/errors.ts';
import type { ProbeContext, ProbeEnvironment, Prober } from '../check.ts';
import { failed, failure, type Outcome } from '../outcome.ts';
import { reach, type ProbeDestination } from '../reach.ts';
import { type AsNames, loadAsNames } from './as-names.ts';
import { openEchoProbes } from './echo-probes.ts';
import { withNames } from './hop-names.ts';
import { hopNamesMs, nameTimeoutMs, type PathSpec, portOfPath } from './options.ts';
import type { PathTrace } from './path-trace.ts';
import { pathLibc, tracePath } from './trace.ts';

/** What a type adds to the path that was measured. */
export interface PathSteps<Spec, Detail> {
  /** Probes for each hop, and the time from one to the next. */
  readonly pace: (spec: Spec) => { readonly queries: number; readonly everyMs: number; readonly countsLoss?: boolean };
  readonly conclude: (trace: PathTrace, spec: Spec, phases: ProbeDestination['phases']) => Outcome<Detail>;
}

/** Starts a type that measures paths. UDP and TCP need no permission; ICMP needs that of `ping`. */
export async function startPath<Spec extends PathSpec, Detail>(
  environment: ProbeEnvironment,
  steps: PathSteps<Spec, Detail>,
): Promise<Prober<Spec, Detail>> {
  let obstacle: string | null;
  try {
    obstacle = await echoObstacle(environment);
  } catch (error) {
    const reason = messageOf(error);
    return {
      capability: { able: false, reason },
      probe: async () => failed(failure('node', 'unsupported', reason)),
      close: async () => {},
    };
  }
  return {
    capability: { able: true },
    timedByKernel: 'all',
    probe: async (spec, context) => probe(spec, context, environment, { ...steps, obstacle }),
    close: async () => {},
  };
}

interface StartedSteps<Spec, Detail> extends PathSteps<Spec, Detail> {
  /** Why the node cannot send ICMP, or null. */
  readonly obstacle: string | null;
}

async function probe<Spec extends PathSpec, Detail>(
  spec: Spec,
  context: ProbeContext,
  environment: ProbeEnvironment,
  { pace, conclude, obstacle }: StartedSteps<Spec, Detail>,
): Promise<Outcome<Detail>> {
  if (obstacle !== null && spec.protocol === 'icmp') return failed(failure('node', 'unsupported', obstacle));
  const { clock, asnFile } = environment;
  let asNames: AsNames | null = null;
  try {
    if (asnFile !== undefined) asNames = await loadAsNames(asnFile);
  } catch (error) {
    return failed(failure('node', 'local', messageOf(error)));
  }
  const destination = { name: spec.host, family: spec.family, limitMs: nameTimeoutMs, covers: 'name' } as const;
  return reach<Detail>(destination, context, environment, {
    async probe({ pinned: { address, family }, phases, signal }) {
      const options = {
        address,
        family,
        protocol: spec.protocol,
        port: portOfPath(spec),
        maxHops: spec.max_hops,
        waitMs: spec.timeout,
        localAddress: environment.localAddress[family],
        ...pace(spec),
      };
      const { onInterim } = context;
      const passOn = (trace: PathTrace) =>
        onInterim?.(conclude(asNames?.nameHops(trace) ?? trace, spec, phases).detail);
      const dependencies = { ...environment, onInterim: onInterim && passOn };
      const traced = await tracePath(options, dependencies, signal);
      const named = spec.names ? await withNames(traced, hopNamesMs, clock, signal) : traced;
      return conclude(asNames?.nameHops(named) ?? named, spec, phases);
    },
  });
}

// Found out by trying.
async function echoObstacle({ random, localAddress }: ProbeEnvironment): Promise<string | null> {
  const libc = await pathLibc();
  const reasons: string[] = [];
  for (const [address, family] of [
    ['127.0.0.1', 4],
    ['::1', 6],
  ] as const) {
    const opened = openEchoProbes(libc, { address, family, localAddress: localAddress[family], random });
    if (opened.ok) {
      opened.socket.close();
      return null;
    }
    reasons.push(opened.reason);
  }
  const remedy =
    'set sysctl net.ipv4.ping_group_range="0 2147483647", give the process CAP_NET_RAW, or use "protocol: udp"';
  return `ICMP is not permitted (${reasons[0]}): ${remedy}`;
}
