import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { issue, issueAuthority } from './certificates.ts';
import { serveHttp, serveHttps } from './http-servers.ts';
import { startHttpTarget, type HttpTarget } from './http-target.ts';
import { a, nameServer } from './name-server.ts';
import { startNats } from './nats-server.ts';
import { createProgram } from './program.ts';
import { mortal } from './children.ts';
import { grpcServer } from './grpc-server.ts';
import { testedProgram } from './tested-program.ts';

/** Servers of each kind, and the real program that watches them from two nodes every second. */
export interface WatchedWorld extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** What is watched as `shop`; it can be stopped. */
  readonly shop: HttpTarget;
  /** Where the others listen. */
  readonly ports: Readonly<Record<'plain' | 'secure' | 'names' | 'health', number>>;
}

const root = new URL('../../', import.meta.url).pathname;

/**
 * With `remote` there is a third node on what could be another machine, which may reach nothing here and so cannot tell, and a database
 * of an earlier version, which is sealed.
 */
export async function startWatchedWorld({ remote = false } = {}): Promise<WatchedWorld> {
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
  const health = started.use(await grpcServer());
  const program = started.use(await createProgram());
  const ports = {
    plain: plain.port,
    secure: secure.port,
    names: names.port,
    health: Number(health.host.split(':')[1]),
  };
  const nats = remote ? await startRemoteNode(program.folder, started) : '';
  if (remote) await writeEarlierDatabase(program.database);
  const { url } = await program.start(`
data: watchpost.db
${nats}
http: { listen: 127.0.0.1:0 }
metrics: { blackbox: true, buckets: [0.001, 0.1, 1] }
nodes: { de1: { location: [de, Germany, Frankfurt] }, us1: { location: [us, USA, Ashburn] } }
defaults: { every: 1s, notify: [ops] }
rules: { down: { failing: majority, rounds: 1, recover: 1 } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
targets:
  shop: { check: http, host: "${shop.url}", labels: { team: web }, objective: 99% over 7d }
  moved: { check: http, host: "http://127.0.0.1:${plain.port}/moved", redirects: 1 }
  secure: { check: http, host: "https://127.0.0.1:${secure.port}/", tls: { verify: false } }
  port: { check: tcp, host: "127.0.0.1:${plain.port}" }
  handshake: { check: tls, host: "127.0.0.1:${secure.port}", verify: false }
  health: { check: grpc, host: "${health.host}" }
  loopback: { check: ping, host: 127.0.0.1, count: 2, timeout: 500ms }
  zone: { check: dns, host: shop.example, resolver: "127.0.0.1:${names.port}", record: A }
`);
  const rest = started.move();
  return { url, port: Number(new URL(url).port), shop, ports, [Symbol.asyncDispose]: () => rest.disposeAsync() };
}

/** A node beside the hub in this folder, and what the hub's configuration says of it. */
async function startRemoteNode(folder: string, started: AsyncDisposableStack): Promise<string> {
  const nats = started.use(await startNats({ nodes: ['jp1'] }));
  const keys = nats.nodes.get('jp1');
  await mkdir(join(folder, 'nodes'));
  const enrolled = { key: keys?.key, location: ['jp', 'Japan', 'Tokyo'], enrolled_at: '2026-01-01T00:00:00Z' };
  await writeFile(join(folder, 'nodes/nodes.json'), JSON.stringify({ nodes: { jp1: enrolled } }));
  await writeFile(join(folder, 'hub.nk'), nats.hub.seed.reveal(), { mode: 0o600 });
  await writeFile(join(folder, 'jp1.nk'), keys?.seed.reveal() ?? '', { mode: 0o600 });
  const config = join(folder, 'jp1.yaml');
  await writeFile(config, `name: jp1\nservers: ["${nats.url}"]\nseed_file: jp1.nk\nspool_file: jp1.db\n`);
  const node = mortal(
    spawn(process.execPath, [testedProgram, 'node', '--config', config], {
      cwd: root,
      stdio: 'ignore',
    }),
  );
  started.defer(async () => {
    node.kill('SIGTERM');
    if (node.exitCode === null && node.signalCode === null) await once(node, 'exit');
  });
  return `nats: { servers: ["${nats.url}"] }`;
}

async function writeEarlierDatabase(path: string): Promise<void> {
  const database = new Database(path);
  database.exec(await readFile(join(root, 'test/fixtures/schemas/8.sql'), 'utf8'));
  database.close();
}
