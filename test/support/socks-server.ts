import { connect, type Socket } from 'node:net';
import { type Listening, tcpServer } from './tcp-servers.ts';

export interface SocksServerOptions {
  /** What it wants to be asked with; absent if anyone may use it. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Its answer to a request, by RFC 1928, section 6, instead of a connection. */
  readonly reply?: number;
  /** Where it takes names to. */
  readonly address?: string;
}

export interface SocksServer extends Listening {
  /** The hosts that it was asked for, as they came. */
  readonly asked: string[];
}

/** A SOCKS 5 proxy on loopback (RFC 1928, RFC 1929), which takes every name to one address. */
export async function socksServer({
  credentials,
  reply,
  address = '127.0.0.1',
}: SocksServerOptions = {}): Promise<SocksServer> {
  const asked: string[] = [];
  const server = await tcpServer((socket) => {
    void serve(socket).catch(() => socket.destroy());
  });

  async function serve(socket: Socket): Promise<void> {
    const read = readerOf(socket);
    const [, count = 0] = await read(2);
    const offered = [...(await read(count))];
    const method = credentials === undefined ? 0 : 2;
    if (!offered.includes(method)) return void socket.end(Buffer.from([5, 0xff]));
    socket.write(Buffer.from([5, method]));
    if (credentials !== undefined) {
      const [, userLength = 0] = await read(2);
      const user = (await read(userLength)).toString();
      const password = (await read((await read(1))[0] ?? 0)).toString();
      const isRight = user === credentials.username && password === credentials.password;
      socket.write(Buffer.from([1, isRight ? 0 : 1]));
      if (!isRight) return void socket.end();
    }
    const [, , , kind = 0] = await read(4);
    const length = kind === 1 ? 4 : kind === 4 ? 16 : ((await read(1))[0] ?? 0);
    const host = await read(length);
    const port = (await read(2)).readUInt16BE();
    asked.push(kind === 3 ? host.toString() : [...host].join('.'));
    if (reply !== undefined) return void socket.end(Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]));
    const behind = connect(port, kind === 1 ? [...host].join('.') : address, () => {
      // In one write with what the target says first, as it may come in one segment.
      behind.once('data', (first: Buffer) => {
        if (isDone) socket.write(first);
        else socket.write(Buffer.concat([done, first]));
        isDone = true;
        behind.pipe(socket);
      });
      setTimeout(() => {
        if (!isDone) socket.write(done);
        isDone = true;
      }, 20);
      read.rest(behind);
    });
    const done = Buffer.from([5, 0, 0, 3, 1, 0x61, 0, 0]);
    let isDone = false;
    behind.on('error', () => socket.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])));
    socket.on('close', () => behind.destroy());
  }

  return Object.assign(server, { asked });
}

function readerOf(socket: Socket) {
  let bytes = Buffer.alloc(0);
  let wake = () => {};
  let onward: Socket | null = null;
  socket.on('data', (piece: Buffer) => {
    if (onward !== null) return void onward.write(piece);
    bytes = Buffer.concat([bytes, piece]);
    wake();
  });
  const read = async (length: number): Promise<Buffer> => {
    while (bytes.length < length) await new Promise<void>((resolve) => (wake = resolve));
    const part = bytes.subarray(0, length);
    bytes = bytes.subarray(length);
    return part;
  };
  return Object.assign(read, {
    rest(to: Socket) {
      onward = to;
      if (bytes.length > 0) to.write(bytes);
    },
  });
}
