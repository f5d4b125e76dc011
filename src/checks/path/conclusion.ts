import { describeDuration } from '#kernel/units.ts';
import { failed, failure, type Failure, type Fact, type Outcome, type Phase } from '../outcome.ts';
import { addressesOf, firstAddress } from './addresses.ts';
import type { PathTrace } from './path-trace.ts';

/** What is known of a measurement besides its path. */
export interface PathContext {
  readonly phases: Readonly<Partial<Record<Phase, number>>>;
  /** How long each probe waited. */
  readonly timeoutMs: number;
  readonly seconds: number | null;
  /** Besides the number of hops. */
  readonly facts: Readonly<Partial<Record<Fact, number>>>;
}

/** Up if the destination answered. Otherwise how the path ends says why, and where. */
export function outcomeOfPath<Detail>(trace: PathTrace, detail: Detail, known: PathContext): Outcome<Detail> {
  const { phases, seconds } = known;
  const facts = { ...known.facts, ...(trace.end === 'reached' && { hops: trace.hops.at(-1)?.hop ?? 0 }) };
  const common = { address: trace.address, phases, facts, detail };
  if (trace.end === 'reached') return { status: 'up', seconds, ...common };
  return failed(failureOf(trace, known.timeoutMs), common);
}

const rejections: Readonly<Record<string, string>> = {
  prohibited: 'administratively prohibited',
  port_unreachable: 'port unreachable',
  unreachable: 'unreachable',
};

function failureOf(trace: PathTrace, timeoutMs: number): Failure {
  const { hops, end } = trace;
  const last = hops.findLast((hop) => firstAddress(hop) !== null);
  const after = last === undefined ? 'from any hop' : `after hop ${last.hop} (${firstAddress(last)})`;
  switch (end) {
    case 'rejected': {
      const probe = hops.at(-1)?.probes.find(({ kind }) => kind in rejections);
      const why = rejections[probe?.kind ?? ''] ?? 'unreachable';
      return failure('target', 'unreachable', `${why}, says ${probe?.address ?? 'a router'} (hop ${hops.length})`);
    }
    case 'loop':
      return failure(
        'target',
        'unreachable',
        `packets go in a circle: hop ${hops.length} is ${addressesOf(hops.at(-1)).join(', ')} again`,
      );
    case 'limit':
      return failure(
        'target',
        'timeout',
        `not reached within ${hops.length} hops; the last is ${addressesOf(last).join(', ')}`,
      );
    case 'error':
      return failure('node', 'local', `could not send: ${trace.error ?? 'no reason given'}`);
    default:
      return failure('target', 'timeout', `no answer ${after} within ${describeDuration(timeoutMs)}`);
  }
}
