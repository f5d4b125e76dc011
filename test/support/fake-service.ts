import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** A request as the fake service saw it. */
export interface Seen {
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
}

export interface FakeService extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly Seen[];
}

/** A real HTTP server on a free port of the loopback. */
export async function fakeService(
  answer: (seen: Seen, response: ServerResponse) => void | Promise<void>,
): Promise<FakeService> {
  const seen: Seen[] = [];
  const server: Server = createServer((request, response) => {
    const one = { url: new URL(request.url ?? '/', 'http://service'), headers: request.headers };
    seen.push(one);
    void answer(one, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  return {
    url: `http://127.0.0.1:${bound.port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A service that starts every check on these nodes and gives these results, the one after the other with each poll. */
export async function replayService(results: readonly Readonly<Record<string, unknown>>[]): Promise<FakeService> {
  const left = [...results];
  const ids = [...new Set(results.flatMap((result) => Object.keys(result)))];
  const places = new Map(ids.map((id) => [id, [id.slice(0, 2), 'Country', `City of ${id.split('.')[0]}`]]));
  return fakeService(({ url, headers }, response) => {
    const [, first = '', second = ''] = url.pathname.split('/');
    if (first === 'nodes') {
      const nodes = ids.map((id) => [id, { asn: 'AS64500', ip: '192.0.2.1', location: places.get(id) }]);
      sendJson(response, { nodes: Object.fromEntries(nodes) });
    } else if (first === 'check-result') {
      sendJson(response, left.length > 1 ? left.shift() : left[0]);
    } else if (first.startsWith('check-') && second === '') {
      const asked = url.searchParams.getAll('node');
      const most = Number(url.searchParams.get('max_nodes') ?? ids.length);
      const chosen = (asked.length > 0 ? ids.filter((id) => asked.includes(id)) : ids).slice(0, most);
      sendJson(response, {
        ok: 1,
        request_id: '23d5abc',
        permanent_link: `http://${headers.host}/check-report/23d5abc`,
        nodes: Object.fromEntries(chosen.map((id) => [id, [...(places.get(id) ?? []), '192.0.2.1', 'AS64500']])),
      });
    } else {
      sendJson(response, { ok: 0, error: 'not_found' }, 404);
    }
  });
}
