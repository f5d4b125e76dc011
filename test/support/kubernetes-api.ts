import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
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

/** A server that speaks the list and watch protocol of Kubernetes' API: pages, versions, tokens, and errors as `Status`. It is no cluster. */
export interface KubernetesApi extends AsyncDisposable {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
  /** Requests: method and path with query. */
  readonly received: string[];
  /** By path, such as "/api/v1/services"; any other path is answered by 404. */
  readonly objects: Map<string, ApiObject[]>;
  /** Puts objects in the place of those at a path, and tells those who watch it. */
  readonly change: (path: string, objects: ApiObject[]) => void;
  /** Sends any line to those who watch a path, or ends their connections. */
  readonly say: (path: string, line: string | null) => void;
  /** How many connections watch a path. */
  readonly watchers: (path: string) => number;
  token: string;
  /** The most objects of a page, whatever the client's limit. */
  pageSize: number;
  /** Instead of an answer: a status with the reason, or no answer at all. */
  refuse: (
    path: string,
    query: URLSearchParams,
  ) => { readonly status: number; readonly message: string } | 'hang' | null;
}

export async function startKubernetesApi(token = 'secret-token', address = '127.0.0.1'): Promise<KubernetesApi> {
  const authority = await issueAuthority();
  const { cert, key } = await issue({ ips: [address], ca: authority });
  const received: string[] = [];
  const objects = new Map<string, ApiObject[]>();
  const events: { readonly version: number; readonly path: string; readonly line: string }[] = [];
  const watching = new Set<{ readonly path: string; readonly response: ServerResponse }>();
  let version = 1;
  const say = (path: string, line: string | null) => {
    for (const one of watching) {
      if (one.path !== path) continue;
      if (line === null) one.response.end();
      else one.response.write(`${line}\n`);
    }
  };
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
    if (searchParams.get('watch') === '1') {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      const one = { path: pathname, response };
      watching.add(one);
      response.once('close', () => watching.delete(one));
      const from = Number(searchParams.get('resourceVersion'));
      for (const event of events)
        if (event.path === pathname && event.version > from) response.write(`${event.line}\n`);
      return;
    }
    const limit = Math.min(Number(searchParams.get('limit') ?? all.length), api.pageSize);
    const from = Number(searchParams.get('continue') ?? 0);
    const more = from + limit < all.length ? { continue: String(from + limit) } : {};
    send(200, {
      kind: 'List',
      metadata: { resourceVersion: String(version), ...more },
      items: all.slice(from, from + limit),
    });
  });
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const api: KubernetesApi = {
    port,
    ca: authority.cert,
    received,
    objects,
    say,
    watchers: (path) => [...watching].filter((one) => one.path === path).length,
    change(path, now) {
      const before = objects.get(path) ?? [];
      objects.set(path, now);
      const isSame = (a: ApiObject) => (b: ApiObject) =>
        a.metadata.name === b.metadata.name && a.metadata.namespace === b.metadata.namespace;
      const told = (type: string, object: ApiObject) => {
        version += 1;
        const line = JSON.stringify({ type, object });
        events.push({ version, path, line });
        say(path, line);
      };
      for (const one of now) {
        const old = before.find(isSame(one));
        if (old === undefined) told('ADDED', one);
        else if (JSON.stringify(old) !== JSON.stringify(one)) told('MODIFIED', one);
      }
      for (const one of before) if (!now.some(isSame(one))) told('DELETED', one);
    },
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
