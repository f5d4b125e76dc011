import type { Socket } from 'node:net';
import { bindCLibrary } from '#kernel/c-library.ts';

/** Reads the handshake's round trip of a connected socket as the kernel measured it; null if it did not. */
export type ReadHandshake = (socket: Socket) => number | null;

/**
 * Prepares reading of `TCP_INFO` (tcp(7)), once for the process. Call the result on `connect`, before anything is sent:
 * later the kernel's figure moves on. Seconds with microsecond resolution. Null on systems other than Linux, if the
 * native binding does not load, and for a handshake that took retransmissions, of which only the last trip is in the figure.
 */
export async function loadHandshakeReader(): Promise<ReadHandshake> {
  reader ??= prepare();
  return reader;
}

let reader: Promise<ReadHandshake> | undefined;

/** Keeps the kernel from receiving much more than is read of a connected socket. */
export type LimitReceiving = (socket: Socket) => void;

/** The largest answer, in bytes, that sockets with `LimitReceiving` receive as fast as others. */
export const limitedBytes = 65_536;

/**
 * Prepares setting `SO_RCVBUF` (socket(7)), once for the process. Call the result on `connect`: the kernel then keeps the buffer that it
 * begins with, instead of letting it grow to megabytes (`tcp_rmem` in tcp(7)), which a target could fill although nothing reads it.
 * Nothing happens on systems other than Linux or if the native binding does not load.
 */
export async function loadReceiveLimit(): Promise<LimitReceiving> {
  limiter ??= prepareLimit();
  return limiter;
}

let limiter: Promise<LimitReceiving> | undefined;

const levelSocket = 1;
const optionReceiveBuffer = 8;

async function prepareLimit(): Promise<LimitReceiving> {
  const setsockopt = process.platform === 'linux' ? await bindSetter() : null;
  if (setsockopt === null) return () => {};
  const size = new Uint8Array(new Int32Array([limitedBytes]).buffer);
  setsockopt(-1, levelSocket, optionReceiveBuffer, size, size.length);
  return (socket) => {
    const fd = descriptorOf(socket);
    // It may be closed by now: then there is nothing to limit.
    if (fd !== null) setsockopt(fd, levelSocket, optionReceiveBuffer, size, size.length);
  };
}

const levelTcp = 6;
const optionInfo = 11;
// Offsets in `struct tcp_info` of linux/tcp.h; the struct only ever grows at its end.
const rttOffset = 68;
const retransmissionsOffset = 100;
const infoBytes = 104;

async function prepare(): Promise<ReadHandshake> {
  const getsockopt = process.platform === 'linux' ? await bind() : null;
  if (getsockopt === null) return () => null;
  const info = Buffer.alloc(infoBytes);
  const length = Buffer.alloc(4);
  const read = (fd: number): boolean => {
    length.writeUInt32LE(infoBytes);
    return getsockopt(fd, levelTcp, optionInfo, info, length) === 0 && length.readUInt32LE() === infoBytes;
  };
  // The first call pays for the binding.
  read(-1);
  return (socket) => {
    const fd = descriptorOf(socket);
    if (fd === null || !read(fd)) return null;
    const microseconds = readWord(info, rttOffset);
    return microseconds === 0 || readWord(info, retransmissionsOffset) > 0 ? null : microseconds / 1e6;
  };
}

// Node has no API for it; by hand, because this runs for each connection.
function descriptorOf(socket: Socket): number | null {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null || !('fd' in handle)) return null;
  return typeof handle.fd === 'number' && handle.fd >= 0 ? handle.fd : null;
}

type GetSockOpt = (fd: number, level: number, option: number, value: Buffer, length: Buffer) => unknown;

async function bind(): Promise<GetSockOpt | null> {
  try {
    return await bindCLibrary((program) => program.func('int getsockopt(int, int, int, void *, void *)'));
  } catch {
    // No binding for this platform: our own clock serves, and the outcome says so.
    return null;
  }
}

type SetSockOpt = (fd: number, level: number, option: number, value: Uint8Array, length: number) => unknown;

async function bindSetter(): Promise<SetSockOpt | null> {
  try {
    return await bindCLibrary((program) => program.func('int setsockopt(int, int, int, const void *, int)'));
  } catch {
    // As above: then the kernel's own limits hold.
    return null;
  }
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function readWord(bytes: Buffer, offset: number): number {
  return littleEndian ? bytes.readUInt32LE(offset) : bytes.readUInt32BE(offset);
}
