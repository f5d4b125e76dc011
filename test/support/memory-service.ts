import { failure } from '#checks/index.ts';
import type { ServiceCall, Http } from '#client/http.ts';
import { pauseIn, readReply, type ServiceReply } from '#client/reply.ts';
import { type Clock, sleep } from '#kernel/clock.ts';

/** An answer of the service: JSON with status 200, or what is said. `hang` answers nothing. */
export type Scripted =
  | { readonly json: unknown; readonly status?: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly text: string; readonly status?: number; readonly headers?: Readonly<Record<string, string>> }
  | 'hang';

export interface SeenCall {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly at: number;
}

/** A check service without a network: `answer` says what each call gets, `calls` what was called. */
export function memoryService(clock: Clock, answer: (call: SeenCall) => Scripted | Promise<Scripted>) {
  const calls: SeenCall[] = [];
  const http: Http = {
    async get({ path, query, timeoutMs, signal }: ServiceCall): Promise<ServiceReply> {
      signal.throwIfAborted();
      const parameters = new URLSearchParams();
      for (const [name, value] of query) parameters.append(name, value);
      const call = { path, query: parameters, at: clock.elapsed() };
      calls.push(call);
      const scripted = await answer(call);
      if (scripted === 'hang') {
        await sleep(clock, timeoutMs, signal);
        const reason = failure('service', 'service_unreachable', 'no answer');
        return { kind: 'trouble', failure: reason, gone: false, pauseMs: null };
      }
      const { status = 200, headers = {} } = scripted;
      const text = 'json' in scripted ? JSON.stringify(scripted.json) : scripted.text;
      return readReply({ status, headers, text }, pauseIn(headers, clock.now()));
    },
    close: () => {},
  };
  return { http, calls, pathsOf: (prefix: string) => calls.filter(({ path }) => path.startsWith(prefix)) };
}

export const nodeList = {
  nodes: {
    'us1.node.example.net': { asn: 'AS18978', ip: '192.0.2.1', location: ['us', 'USA', 'Los Angeles'] },
    'ch1.node.example.net': { asn: 'AS50837', ip: '192.0.2.2', location: ['ch', 'Switzerland', 'Zurich'] },
  },
};

/** The answer to a start on these nodes. */
export function startedOn(...ids: readonly string[]) {
  return {
    ok: 1,
    request_id: 'r1',
    permanent_link: 'https://check.example.net/check-report/r1',
    nodes: Object.fromEntries(ids.map((id) => [id, [id.slice(0, 2), 'Country', 'City', '192.0.2.9', 'AS64500']])),
  };
}
