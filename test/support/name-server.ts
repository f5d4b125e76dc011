import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket as TcpSocket } from 'node:net';
import { type Answer, decode, type DecodedPacket, encode, type Packet } from 'dns-packet';

export interface Asked {
  readonly query: DecodedPacket;
  readonly protocol: 'udp' | 'tcp';
  readonly name: string;
  readonly type: string;
  /** Counts the queries that this server got, from 1. */
  readonly number: number;
  readonly from: RemoteInfo | null;
  /** Sends bytes as they are; over TCP with their length before them. */
  reply(bytes: Uint8Array): void;
  /** Answers the question properly. */
  answer(answers?: readonly Answer[], header?: Partial<Packet> & { readonly rcode?: number }): void;
  /** The connection, over TCP. */
  readonly socket: TcpSocket | null;
}

export interface NameServer extends AsyncDisposable {
  readonly port: number;
  readonly queries: readonly Asked[];
}

/** A name server at 127.0.0.1, UDP and TCP on one port, that does with each query what the test says. */
export async function nameServer(handle: (asked: Asked) => void, address = '127.0.0.1'): Promise<NameServer> {
  const queries: Asked[] = [];
  const sockets = new Set<TcpSocket>();
  const take = (
    bytes: Buffer,
    protocol: 'udp' | 'tcp',
    socket: TcpSocket | null,
    from: RemoteInfo | null,
    reply: Asked['reply'],
  ) => {
    const query = decoded(bytes);
    if (query === null) return;
    const [question] = query.questions ?? [];
    const asked: Asked = {
      query,
      protocol,
      name: question?.name ?? '',
      type: question?.type ?? '',
      number: queries.length + 1,
      from,
      socket,
      reply,
      answer: (answers = [], header = {}) => reply(answerTo(query, answers, header)),
    };
    queries.push(asked);
    handle(asked);
  };
  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      take(data.subarray(2), 'tcp', socket, null, (bytes) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(bytes.length);
        socket.write(Buffer.concat([length, bytes]));
      });
    });
  });
  tcp.listen(0, address);
  await once(tcp, 'listening');
  const bound = tcp.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  const udp = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  udp.on('message', (data, from) => take(data, 'udp', null, from, (bytes) => udp.send(bytes, from.port, from.address)));
  udp.bind(port, address);
  await once(udp, 'listening');
  return {
    port,
    queries,
    async [Symbol.asyncDispose]() {
      udp.close();
      for (const socket of sockets) socket.destroy();
      tcp.close();
      await once(tcp, 'close');
    },
  };
}

export function answerTo(
  query: DecodedPacket,
  answers: readonly Answer[],
  { rcode = 0, flags = 0, ...header }: Partial<Packet> & { readonly rcode?: number } = {},
): Buffer {
  return encode({
    type: 'response',
    id: query.id ?? 0,
    flags: flags | rcode,
    questions: query.questions ?? [],
    answers: [...answers],
    ...header,
  });
}

export function a(name: string, data: string, ttl = 300): Answer {
  return { type: 'A', name, data, ttl };
}

export function aaaa(name: string, data: string, ttl = 300): Answer {
  return { type: 'AAAA', name, data, ttl };
}

// What is no DNS message is dropped, as by a real server: probes of a path come to its port too.
function decoded(bytes: Buffer): ReturnType<typeof decode> | null {
  try {
    return decode(bytes);
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}
