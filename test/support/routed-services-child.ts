import { createSocket } from 'node:dgram';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet } from 'dns-packet';
import { routedHosts as hosts, routedHosts6 as hosts6, type RoutedCertificates } from './routed-services.ts';

// Servers at addresses of one host: each works until a line "break" comes. The first line has the certificates.

let isBroken = false;
const onBreak: (() => void)[] = [];

async function main(): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const first = await lines.next();
  await start(JSON.parse(String(first.value)) as RoutedCertificates);
  process.stdout.write('ready\n');
  for (;;) {
    const { done, value } = await lines.next();
    if (done === true) return;
    if (value !== 'break') throw new Error(`unknown command ${value}`);
    isBroken = true;
    for (const change of onBreak) change();
    process.stdout.write('broken\n');
  }
}

async function start({ good, expired }: RoutedCertificates): Promise<void> {
  for (const address of [hosts.steady, hosts.firewall, hosts.dropped, hosts.looped, hosts.rejected, hosts.right]) {
    await tcp(address, (socket) => socket.resume());
  }
  for (const address of [hosts6.steady, hosts6.dropped, hosts6.looped, hosts6.rejected]) {
    await tcp(address, (socket) => socket.resume());
  }
  await http(hosts6.hole, (_, response) => response.end('x'.repeat(8_000)));
  const closing = await tcp(hosts.closed, (socket) => socket.resume());
  onBreak.push(() => closing.close());
  await tcp(hosts.talker, (socket) => socket.resume().write(isBroken ? '220-mail' : '220 mail ready\r\n'));
  await http(hosts.hole, (_, response) => response.end('x'.repeat(8_000)));
  await http(hosts.slow, (_, response) => void setTimeout(() => response.end('fine'), isBroken ? 4_000 : 0));
  await http(hosts.truncated, (_, response) => {
    response.writeHead(200, { 'content-length': '2048' });
    if (isBroken) response.write('x'.repeat(512), () => setTimeout(() => response.destroy(), 50));
    else response.end('x'.repeat(2_048));
  });
  const secure = createHttpsServer(good, (_, response) => response.end('fine'));
  secure.on('error', fail);
  secure.listen(8_443, hosts.expired);
  onBreak.push(() => secure.setSecureContext(expired));
  names(hosts.resolver, resolve);
  names(hosts.parent, refer);
  names(hosts.ns1, authoritative);
  names(hosts.ns2, authoritative);
}

const fail = (error: Error) => {
  throw error;
};

async function tcp(address: string, take: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    take(socket);
  });
  await new Promise<void>((done) => server.listen(8_080, address, done));
  return server;
}

async function http(address: string, listener: RequestListener): Promise<void> {
  const server = createHttpServer(listener);
  await new Promise<void>((done) => server.listen(8_080, address, done));
}

interface Reply {
  readonly answers?: readonly Answer[];
  readonly rcode?: number;
  readonly more?: Partial<Packet>;
}

const refused = 5;
const servfail = 2;
const zones = ['lied.example', 'lame.example'];
const addresses: Readonly<Record<string, string>> = {
  'www.lied.example': hosts.right,
  'www.lame.example': hosts.steady,
  'ns.example': hosts.parent,
  'ns1.lied.example': hosts.ns1,
  'ns1.lame.example': hosts.ns1,
  'ns2.lame.example': hosts.ns2,
};
const serversOf = (zone: string) => (zone === 'lied.example' ? [`ns1.${zone}`] : [`ns1.${zone}`, `ns2.${zone}`]);
const a = (name: string, data = addresses[name]): Answer[] =>
  data === undefined ? [] : [{ type: 'A', name, data, ttl: 1 }];
const ns = (name: string, data: string): Answer => ({ type: 'NS', name, data, ttl: 1 });

function resolve(name: string, type: string): Reply {
  if (type === 'NS' && name === 'example') return { answers: [ns('example', 'ns.example')] };
  if (type === 'NS') return { answers: zones.includes(name) ? serversOf(name).map((server) => ns(name, server)) : [] };
  if (type !== 'A') return {};
  if (isBroken && name === 'www.lied.example') return { answers: a(name, hosts.wrong) };
  if (isBroken && name === 'www.lame.example') return { rcode: servfail };
  return { answers: a(name) };
}

function refer(name: string): Reply {
  const zone = zones.find((one) => name.endsWith(one));
  if (zone === undefined) return { rcode: refused };
  const authorities = serversOf(zone).map((server) => ns(zone, server));
  return { more: { authorities, additionals: serversOf(zone).flatMap((server) => a(server)) } };
}

function authoritative(name: string, type: string): Reply {
  if (isBroken && name.endsWith('lame.example')) return { rcode: refused };
  return { answers: type === 'A' ? a(name) : [], more: { flags: AUTHORITATIVE_ANSWER } };
}

function names(address: string, answer: (name: string, type: string) => Reply): void {
  const socket = createSocket('udp4');
  socket.on('message', (message, peer) => {
    const query = decode(message);
    const [question] = query.questions ?? [];
    if (question === undefined) return;
    const { answers = [], rcode = 0, more = {} } = answer(question.name.toLowerCase(), question.type);
    const flags = (more.flags ?? 0) | rcode;
    const packet: Packet = {
      type: 'response',
      id: query.id ?? 0,
      questions: [question],
      answers: [...answers],
      ...more,
      flags,
    };
    socket.send(encode(packet), peer.port, peer.address);
  });
  socket.bind(53, address);
}

await main();
