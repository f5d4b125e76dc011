import type { Socket } from 'node:net';
import { bindCLibrary } from '#kernel/c-library.ts';
import type { ArrivalKind } from './arrivals.ts';

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

/**
 * Reads for how many milliseconds at the least what a connected socket received last has been there; 0 if it may have come this
 * moment, null if the kernel does not tell.
 */
export type ReadArrivalAge = (socket: Socket, what: ArrivalKind) => number | null;

/**
 * Prepares reading of `tcpi_last_data_recv` and `tcpi_last_ack_recv` in `TCP_INFO` (tcp(7)), once for the process. The kernel counts
 * in ticks of 1 to 10 ms: what it says can be too much by one, which is taken off. The first is of segments with data; a segment
 * without, such as one that ends a connection, counts for the second. Null on systems other than Linux, if the native binding does
 * not load, and for a socket that is closed.
 */
export async function loadArrivalAgeReader(): Promise<ReadArrivalAge> {
  ageReader ??= prepareArrivalAge();
  return ageReader;
}

let ageReader: Promise<ReadArrivalAge> | undefined;

/** What the kernel tells of connections: when something came, or nothing, as on systems other than Linux or without the native binding. */
export async function arrivalTimes(): Promise<'arrivals' | undefined> {
  return (await loadInfo()) === untold ? undefined : 'arrivals';
}

/**
 * Reads for how many milliseconds at the most what a connected socket sent last has been sent; null if the kernel does not tell, or
 * has sent anything again.
 */
export type ReadSentAge = (socket: Socket) => number | null;

/** Prepares reading of `tcpi_last_data_sent` in `TCP_INFO` (tcp(7)), as `loadArrivalAgeReader` does. */
export async function loadSentAgeReader(): Promise<ReadSentAge> {
  sentReader ??= prepareSentAge();
  return sentReader;
}

let sentReader: Promise<ReadSentAge> | undefined;

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
const lastDataSentOffset = 44;
const lastDataReceivedOffset = 52;
const lastAckReceivedOffset = 56;
const rttOffset = 68;
const retransmissionsOffset = 100;
const infoBytes = 104;

async function prepare(): Promise<ReadHandshake> {
  const readInfo = await loadInfo();
  return (socket) => {
    const info = readInfo(socket);
    if (info === null) return null;
    const microseconds = readWord(info, rttOffset);
    return microseconds === 0 || readWord(info, retransmissionsOffset) > 0 ? null : microseconds / 1e6;
  };
}

async function prepareArrivalAge(): Promise<ReadArrivalAge> {
  const readInfo = await loadInfo();
  const tickMs = await measureTick();
  return (socket, what) => {
    const info = readInfo(socket);
    if (info === null) return null;
    const dataMs = readWord(info, lastDataReceivedOffset);
    const ms = what === 'data' ? dataMs : Math.min(dataMs, readWord(info, lastAckReceivedOffset));
    return Math.max(0, ms - tickMs);
  };
}

async function prepareSentAge(): Promise<ReadSentAge> {
  const readInfo = await loadInfo();
  const tickMs = await measureTick();
  return (socket) => {
    const info = readInfo(socket);
    if (info === null || readWord(info, retransmissionsOffset) > 0) return null;
    return readWord(info, lastDataSentOffset) + tickMs;
  };
}

// The struct is that of the last call.
type ReadInfo = (socket: Socket) => Buffer | null;

async function loadInfo(): Promise<ReadInfo> {
  infoReader ??= prepareInfo();
  return infoReader;
}

let infoReader: Promise<ReadInfo> | undefined;

const untold: ReadInfo = () => null;

async function prepareInfo(): Promise<ReadInfo> {
  const getsockopt = process.platform === 'linux' ? await bind() : null;
  if (getsockopt === null) return untold;
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
    return fd !== null && read(fd) ? info : null;
  };
}

// The tick is the resolution of this clock (clock_getres(2)).
const clockMonotonicCoarse = 6;
const longestTickMs = 10;

/** How long the kernel's tick is, in whole milliseconds, rounded up: as many as what it says in milliseconds can be too much by. */
async function measureTick(): Promise<number> {
  if (process.platform !== 'linux') return longestTickMs;
  try {
    const getResolution = await bindCLibrary((program) => program.func('int clock_getres(int, void *)'));
    const resolution = new BigInt64Array(2);
    if (getResolution(clockMonotonicCoarse, new Uint8Array(resolution.buffer)) !== 0) return longestTickMs;
    const ms = Math.ceil(Number(resolution[1]) / 1e6);
    return ms >= 1 && resolution[0] === 0n ? Math.min(ms, longestTickMs) : longestTickMs;
  } catch {
    // No binding for this platform, or another C library: the longest tick that Linux has is right for all.
    return longestTickMs;
  }
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
