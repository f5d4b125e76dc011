import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { answerQuestions } from '../tools/processes.ts';
import type { Ports } from './subject.ts';

// The targets, in a process of their own: they do as little as a server can.

const body = 'ok\n';
const tcp = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => {});
  socket.resume();
}).listen(0, '0.0.0.0', 4_096);
const http = createHttpServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': body.length }).end(body);
}).listen(0, '0.0.0.0', 4_096);

const udp = createSocket('udp4');
udp.on('message', (datagram, { port, address }) => udp.send(datagram, port, address));
udp.bind(0, '127.0.0.1');

const dns = createSocket('udp4');
dns.on('message', (query, { port, address }) => dns.send(answerTo(query), port, address));
dns.bind(0, '127.0.0.1');

for (const server of [tcp, http, udp, dns]) if (portOf(server) === 0) await once(server, 'listening');
const ports: Ports = { tcp: portOf(tcp), http: portOf(http), udp: portOf(udp), dns: portOf(dns) };
answerQuestions(async () => ports);

function portOf(server: { address(): AddressInfo | string | null }): number {
  try {
    const address = server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  } catch {
    return 0;
  }
}

// Every question is answered with one record of its type: 192.0.2.1 for A, 2001:db8::1 for AAAA.
function answerTo(query: Buffer): Buffer {
  let end = 12;
  while (query[end] !== 0) end += 1 + (query[end] ?? 0);
  end += 5;
  const six = query.readUInt16BE(end - 4) === 28;
  const data = six ? Buffer.from('20010db8000000000000000000000001', 'hex') : Buffer.from([192, 0, 2, 1]);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc00c, 0);
  query.copy(record, 2, end - 4, end);
  record.writeUInt32BE(300, 6);
  record.writeUInt16BE(data.length, 10);
  const answer = Buffer.concat([query.subarray(0, end), record, data]);
  answer.writeUInt16BE(0x8180, 2);
  answer.writeUInt16BE(1, 6);
  answer.writeUInt32BE(0, 8);
  return answer;
}
