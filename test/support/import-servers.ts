import { createSocket } from 'node:dgram';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { issue } from './certificates.ts';
import { dnsServer, zone } from './dns-server.ts';
import { grpcServer } from './grpc-server.ts';
import { serveHttp, serveHttps } from './http-servers.ts';
import { startMongo } from './mongo-server.ts';
import { socksServer } from './socks-server.ts';
import { talkingServer, type Turn } from './talking-server.ts';
import { closedPort, tcpServer } from './tcp-servers.ts';
import { echo, webSocketServer } from './web-socket-server.ts';

const health = {
  status: 'UP',
  load: 3,
  version: '1.4',
  nodes: 4,
  'wanted-nodes': 4,
  checks: [{ name: 'db' }, { name: 'queue' }],
};

const pages: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  '/ok': (_request, response) => void response.end('ok\n'),
  '/health.json': (_request, response) => void response.end(JSON.stringify(health)),
  '/page': (_request, response) => void response.setHeader('X-Shop', 'open').end('<html><h1>Shop</h1></html>'),
  '/teapot': (_request, response) => void response.writeHead(418).end(),
  '/error': (_request, response) => void response.writeHead(500).end('broken'),
  '/moved': (_request, response) => void response.writeHead(302, { location: '/ok' }).end(),
  '/echo': (request, response) => void text(request).then((body) => response.end(body)),
  '/members': ({ headers }, response) =>
    void response.writeHead(headers.authorization === 'Basic b3BzOmh1bnRlcjI=' ? 200 : 401).end(),
  '/bearer': ({ headers }, response) =>
    void response.writeHead(headers.authorization === 'Bearer t0ken' ? 200 : 401).end(),
  '/token'({ headers }, response) {
    if (headers.authorization !== 'Basic c2hvcDpzM2NyZXQ=') return void response.writeHead(401).end();
    response.end(JSON.stringify({ access_token: 't0ken', token_type: 'Bearer', expires_in: 3_600 }));
  },
  '/inside': ({ headers }, response) => void response.writeHead(headers.via === '1.1 proxy' ? 200 : 403).end(),
};

function proxied({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  if (headers['proxy-authorization'] !== 'Basic b3BzOmh1bnRlcjI=') return void response.writeHead(407).end();
  const forwarded = request(url, { headers: { via: '1.1 proxy' } }, (answer) => {
    answer.pipe(response.writeHead(answer.statusCode ?? 502));
  });
  forwarded.on('error', () => void response.destroy());
  forwarded.end();
}

// RFC 3207.
const secureMail: readonly Turn[] = [
  { say: '220 mail.example.com ESMTP\r\n' },
  { hear: 'EHLO' },
  { say: '250-mail.example.com\r\n250-STARTTLS\r\n250 SIZE\r\n' },
  { hear: 'STARTTLS' },
  { say: '220 go ahead\r\n' },
  'starttls',
  { hear: 'EHLO' },
  { say: '250 mail.example.com\r\n' },
  { hear: 'QUIT' },
];

export interface ImportServers extends AsyncDisposable {
  /** The ports that are written in the fixtures replaced by those of the servers. */
  withPorts(text: string): string;
}

/** The servers that the fixtures of imports watch. */
export async function importServers(): Promise<ImportServers> {
  await using stack = new AsyncDisposableStack();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const page = pages[request.url ?? ''];
    if (page === undefined) response.writeHead(404).end();
    else page(request, response);
  };
  const web = stack.use(await serveHttp(answer));
  const proxy = stack.use(await serveHttp(proxied));
  const socks = stack.use(await socksServer());
  const { cert, key } = await issue({ ips: ['127.0.0.1'] });
  const secure = stack.use(await serveHttps({ cert, key }, (_request, response) => void response.end('ok')));
  const ssh = stack.use(await tcpServer((socket) => void socket.end('SSH-2.0-test\r\n')));
  const dialogue = stack.use(
    await tcpServer(
      (socket) =>
        void socket.on('data', (data) => socket.end(String(data).includes('PING') ? '+PONG\r\n' : '-ERR\r\n')),
    ),
  );
  const mail = stack.use(await talkingServer(secureMail, { cert, key }));
  const mongo = stack.use(
    await startMongo({
      users: [{ name: 'ops', password: 'p@ss' }],
      hello: { setName: 'rs0' },
      data: { 'shop.orders': Array.from({ length: 15 }, () => ({})) },
    }),
  );
  const sockets = stack.use(await webSocketServer(echo));
  const secureSockets = stack.use(await webSocketServer(echo, { cert, key }));
  const health = stack.use(await grpcServer());
  const names = stack.use(await dnsServer(zone({ 'shop.example.com': ['192.0.2.7', '192.0.2.8'] })));
  const datagrams = createSocket('udp4');
  await new Promise<void>((resolve) => datagrams.bind(0, '127.0.0.1', resolve));
  stack.defer(() => void datagrams.close());
  const ports: Readonly<Record<string, string | number>> = {
    18080: web.port,
    18031: proxy.port,
    18032: socks.port,
    18443: secure.port,
    18022: ssh.port,
    18025: dialogue.port,
    18026: mail.port,
    18027: mongo.port,
    18051: health.port,
    18081: sockets.port,
    18082: secureSockets.port,
    18053: names.address.split(':')[1] ?? '',
    18090: datagrams.address().port,
    18099: await closedPort(),
  };
  const held = stack.move();
  return {
    withPorts: (written) => written.replaceAll(/\b(?:180\d\d|18443)\b/g, (port) => String(ports[port] ?? port)),
    [Symbol.asyncDispose]: async () => held.disposeAsync(),
  };
}
