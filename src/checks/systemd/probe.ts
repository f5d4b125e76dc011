import { type Clock, deadline } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import type { ProbeContext, ProbeEnvironment, Prober } from '../check.ts';
import { failed, type Failure, failure, type Outcome, toSeconds } from '../outcome.ts';
import { Bus, BusError, CallError } from './bus.ts';
import type { Detail } from './detail.ts';
import type { Spec } from './spec.ts';
import { askUnit, type UnitStatus } from './units.ts';

/** Starts the type on a node, with the socket that its own configuration names. */
export async function start({ clock, systemdSocket }: ProbeEnvironment): Promise<Prober<Spec, Detail>> {
  if (systemdSocket === undefined) {
    const reason = 'this node has no systemd: name the socket of its message bus under systemd_socket';
    return {
      capability: { able: false, reason },
      probe: async () => failed(failure('node', 'unsupported', reason)),
      close: async () => {},
    };
  }
  const ending = new AbortController();
  return {
    capability: { able: true, has: ['systemd'] },
    probe: async (spec, { signal }) =>
      probe(spec, { signal: AbortSignal.any([signal, ending.signal]) }, clock, systemdSocket),
    async close() {
      ending.abort(new Error('the node ends'));
    },
  };
}

async function probe(
  spec: Spec,
  { signal: outer }: Pick<ProbeContext, 'signal'>,
  clock: Clock,
  socket: string,
): Promise<Outcome<Detail>> {
  const { host, timeout } = spec;
  using limit = deadline(clock, timeout, outer);
  const start = clock.elapsed();
  try {
    using bus = await Bus.open(socket, limit.signal);
    const unit = await askUnit(bus, host, limit.signal);
    const seconds = toSeconds(clock.elapsed() - start);
    const known = { seconds, phases: { query: seconds } };
    const wrong = unmet(spec, unit);
    if (unit.load !== 'loaded' && wrong !== null) return failed(wrong, known);
    const detail = detailOf(unit);
    if (wrong !== null) return failed(wrong, { ...known, detail });
    return { status: 'up', ...known, address: null, facts: {}, detail };
  } catch (error) {
    outer.throwIfAborted();
    if (limit.expired)
      return failed(failure('third_party', 'timeout', `systemd did not answer within ${formatDuration(timeout)}`));
    const reason = reasonOf(error);
    if (reason === null) throw error;
    return failed(reason);
  }
}

function reasonOf(error: unknown): Failure | null {
  if (error instanceof BusError) {
    if (error.kind === 'socket') return failure('node', 'local', error.message);
    return failure('third_party', error.kind === 'silent' ? 'no_answer' : 'protocol', error.message);
  }
  if (!(error instanceof CallError)) return null;
  const said = singleLine(error.message, 150);
  if (error.errorName.endsWith('.AccessDenied')) return failure('node', 'local', `the bus refuses this user: ${said}`);
  const isAway = ['.ServiceUnknown', '.NameHasNoOwner', '.NoReply'].some((name) => error.errorName.endsWith(name));
  return failure('third_party', isAway ? 'no_answer' : 'protocol', `${isAway ? 'no systemd' : 'systemd'}: ${said}`);
}

function detailOf({ active, sub, description, service }: UnitStatus): Detail {
  return {
    state: singleLine(active),
    sub: singleLine(sub),
    description: singleLine(description, 200),
    result: service === null ? null : singleLine(service.result),
    exit: service?.exit ?? null,
    restarts: service?.restarts ?? null,
  };
}

function unmet({ host, expect }: Spec, unit: UnitStatus): Failure | null {
  const { load, active, sub, service } = unit;
  const wrong = (what: string) => failure('target', 'status', `unit ${host} ${what}`);
  if (load === 'not-found') return failure('target', 'status', `there is no unit ${host}`);
  // A masked unit may be expected to be inactive; one whose file has mistakes is as it was when it was last good.
  if (!expect.state.some((state) => state === active)) {
    const mask = load === 'masked' ? ' (masked)' : '';
    return wrong(`is ${singleLine(active, 20)}${mask}${active === 'failed' ? reasonOfEnd(service) : ''}`);
  }
  if (load === 'bad-setting' || load === 'error') return wrong(`cannot be loaded: ${singleLine(load, 20)}`);
  if (expect.sub === undefined || expect.sub.includes(sub)) return null;
  return wrong(`is ${singleLine(active, 20)}, but ${singleLine(sub, 30)}`);
}

const reasons: Readonly<Record<string, string>> = {
  'exit-code': 'exit code',
  signal: 'killed by signal',
  'core-dump': 'crashed with signal',
};

function reasonOfEnd(service: UnitStatus['service']): string {
  if (service === null || service.result === 'success') return '';
  const { result, exit } = service;
  const reason = reasons[result];
  return reason === undefined ? `: ${singleLine(result, 30)}` : `: ${reason} ${exit}`;
}
