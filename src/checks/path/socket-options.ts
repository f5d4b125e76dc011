import type { AddressFamily } from '../address.ts';
import { describeError, type PingLibc } from '../ping/libc.ts';
import { encodeSocketAddress } from '../ping/socket-address.ts';

/** A socket address with a port. */
export function socketAddress(address: string, family: AddressFamily, port: number): Uint8Array {
  const encoded = encodeSocketAddress(address, family);
  encoded[2] = port >> 8;
  encoded[3] = port & 0xff;
  return encoded;
}

/** Throws with the reason if the kernel refuses. */
export function setOption(libc: PingLibc, fd: number, level: number, name: number, ...words: readonly number[]): void {
  const bytes = new Uint8Array(Int32Array.from(words).buffer);
  if (libc.setsockopt(fd, level, name, bytes, bytes.length) === -1) {
    throw new Error(`socket option ${level}/${name}: ${describeError(libc.errno())}`);
  }
}

export interface SocketBinding {
  readonly family: AddressFamily;
  readonly localAddress: string | undefined;
  /** The port to have if it is free; 0 for any. */
  readonly port: number;
}

/** Binds a socket to its source. Throws with the reason if the address cannot be used. */
export function bindTo(libc: PingLibc, fd: number, { family, localAddress, port }: SocketBinding): void {
  const any = family === 4 ? '0.0.0.0' : '::';
  const bind = (port: number) => {
    const address = socketAddress(localAddress ?? any, family, port);
    return libc.bind(fd, address, address.length) !== -1;
  };
  if (port !== 0 && bind(port)) return;
  if (!bind(0)) throw new Error(`source address ${localAddress ?? any}: ${describeError(libc.errno())}`);
}
