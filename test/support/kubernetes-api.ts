import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { issue, issueAuthority } from './certificates.ts';

/** An object as the API lists it. */
export interface ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: object;
}

/** A server that speaks the list protocol of Kubernetes' API: pages, tokens, and errors as `Status`. It is no cluster. */
export interface KubernetesApi extends AsyncDisposable {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
  /** Requests: method and path with query. */
  readonly received: string[];
  /** By path, such as "/api/v1/services"; any other path is answered by 404. */
  readonly objects: Map<string, ApiObject[]>;
  token: string;
  /** The most objects of a page, whatever the client's limit. */
  pageSize: number;
  /** Instead of an answer: a status with the reason, or no answer at all. */
  refuse: (
    path: string,
    query: URLSearchParams,
  ) => { readonly status: number; readonly message: string } | 'hang' | null;
}

export async function startKubernetesApi(token = 'secret-token'): Promise<KubernetesApi> {
  const authority = await issueAuthority();
  const { cert, key } = await issue({ ips: ['127.0.0.1'], ca: authority });
  const received: string[] = [];
  const objects = new Map<string, ApiObject[]>();
  const server = createServer({ cert, key }, (request, response) => {
    received.push(`${request.method} ${request.url}`);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://api');
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const fail = (code: number, message: string) => send(code, { kind: 'Status', status: 'Failure', message, code });
    if (request.headers.authorization !== `Bearer ${api.token}`) return void fail(401, 'Unauthorized');
    const refused = api.refuse(pathname, searchParams);
    if (refused === 'hang') return;
    if (refused !== null) return void fail(refused.status, refused.message);
    const all = objects.get(pathname);
    if (all === undefined) return void fail(404, 'the server could not find the requested resource');
    const limit = Math.min(Number(searchParams.get('limit') ?? all.length), api.pageSize);
    const from = Number(searchParams.get('continue') ?? 0);
    const more = from + limit < all.length ? { continue: String(from + limit) } : {};
    send(200, { kind: 'List', metadata: { resourceVersion: '1', ...more }, items: all.slice(from, from + limit) });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const api: KubernetesApi = {
    port,
    ca: authority.cert,
    received,
    objects,
    token,
    pageSize: 500,
    refuse: () => null,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return api;
}
