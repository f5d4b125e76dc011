import { type Clock, deadline } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import type { ProbeContext, ProbeEnvironment, Prober } from '../check.ts';
import { failed, type Failure, failure, type Outcome, toSeconds } from '../outcome.ts';
import type { Container } from './container.ts';
import type { Detail } from './detail.ts';
import { askEngine } from './engine.ts';
import type { Spec } from './spec.ts';

/** Starts the type on a node, with the socket that its own configuration names. */
export async function start({ clock, dockerSocket }: ProbeEnvironment): Promise<Prober<Spec, Detail>> {
  if (dockerSocket === undefined) {
    const reason = 'this node has no container engine: name its socket under docker_socket';
    return {
      capability: { able: false, reason },
      probe: async () => failed(failure('node', 'unsupported', reason)),
      close: async () => {},
    };
  }
  const ending = new AbortController();
  return {
    capability: { able: true, has: ['engine'] },
    probe: async (spec, { signal }) =>
      probe(spec, { signal: AbortSignal.any([signal, ending.signal]) }, clock, dockerSocket),
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
    const answer = await askEngine(socket, `/containers/${encodeURIComponent(host)}/json`, limit.signal);
    if ('reason' in answer)
      return failed(
        answer.isSocket ? failure('node', 'local', answer.reason) : failure('third_party', 'no_answer', answer.reason),
      );
    const seconds = toSeconds(clock.elapsed() - start);
    const known = { seconds, phases: { query: seconds } };
    if (answer.status === 404) return failed(failure('target', 'status', `there is no container ${host}`), known);
    // Loaded with the first answer: most nodes have no engine.
    const { readContainer } = await import('./container.ts');
    const container = answer.status === 200 ? readContainer(answer.text) : null;
    if (container === null) {
      const said = `the engine answered with status ${answer.status}: ${singleLine(answer.text, 100)}`;
      return failed(failure('third_party', 'protocol', said), known);
    }
    const detail = detailOf(container);
    const wrong = unmet(spec, container);
    if (wrong !== null) return failed(wrong, { ...known, detail });
    return { status: 'up', ...known, address: null, facts: {}, detail };
  } catch (error) {
    outer.throwIfAborted();
    if (!limit.expired) throw error;
    return failed(failure('third_party', 'timeout', `the engine did not answer within ${formatDuration(timeout)}`));
  }
}

// Docker says "none" of a container without a health check, and Podman an empty text.
function healthOf({ State: { Health } }: Container): string | null {
  const status = Health?.Status ?? '';
  return status === '' || status === 'none' ? null : status;
}

function detailOf(container: Container): Detail {
  const { State, Config, RestartCount } = container;
  const image = Config?.Image ?? '';
  return {
    state: singleLine(State.Status),
    health: healthOf(container) === null ? null : singleLine(healthOf(container) ?? ''),
    image: image === '' ? null : singleLine(image),
    exit: State.Running || State.Status === 'created' ? null : State.ExitCode,
    restarts: RestartCount,
  };
}

function unmet({ host, expect }: Spec, container: Container): Failure | null {
  const { Status, ExitCode, OOMKilled, Error: trouble, Health } = container.State;
  const wrong = (what: string) => failure('target', 'status', `container ${host} ${what}`);
  if (!expect.state.some((state) => state === Status)) {
    const exit = ['exited', 'dead'].includes(Status) ? `, exit code ${ExitCode}` : '';
    const memory = OOMKilled ? ', out of memory' : '';
    return wrong(`is ${singleLine(Status, 20)}${exit}${memory}${trouble === '' ? '' : `: ${trouble}`}`);
  }
  const health = healthOf(container);
  const said = Health?.Log?.at(-1)?.Output.trim() ?? '';
  if (health === 'unhealthy') return wrong(`is unhealthy${said === '' ? '' : `: ${said}`}`);
  if (expect.health === undefined || health === 'healthy') return null;
  return wrong(health === null ? 'has no health check' : `is not healthy yet: ${singleLine(health, 20)}`);
}
