import { issue, issueAuthority } from './certificates.ts';
import { serveHttp, serveHttps } from './http-servers.ts';
import { startHttpTarget, type HttpTarget } from './http-target.ts';
import { a, nameServer } from './name-server.ts';
import { createProgram } from './program.ts';

/** Servers of each kind, and the real program that watches them from two nodes every second. */
export interface WatchedWorld extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** What is watched as `shop`; it can be stopped. */
  readonly shop: HttpTarget;
  /** Where the others listen. */
  readonly ports: Readonly<Record<'plain' | 'secure' | 'names', number>>;
}

export async function startWatchedWorld(): Promise<WatchedWorld> {
  await using started = new AsyncDisposableStack();
  const shop = started.use(await startHttpTarget());
  const plain = started.use(
    await serveHttp((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/' });
      response.end('hello');
    }),
  );
  const authority = await issueAuthority();
  const certificate = await issue({ names: ['localhost'], ips: ['127.0.0.1'], ca: authority });
  const secure = started.use(await serveHttps(certificate, (_, response) => response.end('hello')));
  const names = started.use(await nameServer((asked) => asked.answer([a(asked.name, '192.0.2.1')])));
  const program = started.use(await createProgram());
  const ports = { plain: plain.port, secure: secure.port, names: names.port };
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
metrics: { blackbox: true, buckets: [0.001, 0.1, 1] }
nodes: { de1: { location: [de, Germany, Frankfurt] }, us1: { location: [us, USA, Ashburn] } }
defaults: { every: 1s, notify: [ops] }
rules: { down: { failing: majority, rounds: 1, recover: 1 } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
targets:
  shop: { check: http, host: "${shop.url}", labels: { team: web } }
  moved: { check: http, host: "http://127.0.0.1:${plain.port}/moved", redirects: 1 }
  secure: { check: http, host: "https://127.0.0.1:${secure.port}/", tls: { verify: false } }
  port: { check: tcp, host: "127.0.0.1:${plain.port}" }
  loopback: { check: ping, host: 127.0.0.1, count: 2, timeout: 500ms }
  zone: { check: dns, host: shop.example, resolver: "127.0.0.1:${names.port}", record: A }
`);
  const rest = started.move();
  return { url, port: Number(new URL(url).port), shop, ports, [Symbol.asyncDispose]: () => rest.disposeAsync() };
}
