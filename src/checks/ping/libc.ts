import { endianness } from 'node:os';
import { getSystemErrorMessage, getSystemErrorName } from 'node:util';
import { bindCLibrary } from '#kernel/c-library.ts';

type Pointer = Uint8Array | null;

/** The calls of libc that ICMP and paths need, none of which waits. Results are the C ones; `errno` explains the last -1. */
export interface PingLibc {
  socket(domain: number, type: number, protocol: number): number;
  bind(fd: number, address: Uint8Array, length: number): number;
  connect(fd: number, address: Uint8Array, length: number): number;
  setsockopt(fd: number, level: number, name: number, value: Uint8Array, length: number): number;
  getsockopt(fd: number, level: number, name: number, value: Uint8Array, length: Uint8Array): number;
  sendto(fd: number, bytes: Uint8Array, length: number, flags: number, address: Uint8Array, size: number): number;
  recvmmsg(fd: number, messages: Uint8Array, count: number, flags: number, timeout: Pointer): number;
  poll(descriptors: Uint8Array, count: number, timeoutMs: number): number;
  clock_gettime(clock: number, time: Uint8Array): number;
  close(fd: number): number;
  /** The number of the last error. */
  errno(): number;
  setErrno(errno: number): void;
  /** Where the bytes are; they stay there as long as the array lives. */
  address(bytes: Uint8Array): bigint;
}

/** Numbers of Linux on 64-bit machines (`asm-generic/socket.h`, `linux/in.h`, `linux/in6.h`, `linux/icmp.h`). */
export const linux = {
  AF_INET: 2,
  AF_INET6: 10,
  SOCK_STREAM: 1,
  SOCK_DGRAM: 2,
  SOCK_RAW: 3,
  SOCK_NONBLOCK: 0o4000,
  SOCK_CLOEXEC: 0o2000000,
  IPPROTO_ICMP: 1,
  IPPROTO_TCP: 6,
  IPPROTO_ICMPV6: 58,
  TCP_INFO: 11,
  SOL_SOCKET: 1,
  SO_ERROR: 4,
  SO_RCVBUF: 8,
  SO_LINGER: 13,
  SO_TIMESTAMPNS: 35,
  SO_TIMESTAMPING: 37,
  SOF_TIMESTAMPING_TX_SOFTWARE: 1 << 1,
  SOF_TIMESTAMPING_OPT_ID: 1 << 7,
  SOF_TIMESTAMPING_OPT_TSONLY: 1 << 11,
  SOL_IP: 0,
  IP_TOS: 1,
  IP_TTL: 2,
  IP_MTU_DISCOVER: 10,
  IP_PMTUDISC_PROBE: 3,
  IP_RECVERR: 11,
  IP_RECVTTL: 12,
  SOL_IPV6: 41,
  IPV6_UNICAST_HOPS: 16,
  IPV6_MTU_DISCOVER: 23,
  IPV6_DONTFRAG: 62,
  IPV6_TCLASS: 67,
  IPV6_RECVERR: 25,
  IPV6_RECVHOPLIMIT: 51,
  IPV6_HOPLIMIT: 52,
  SOL_RAW: 255,
  ICMP_FILTER: 1,
  SOL_ICMPV6: 58,
  ICMPV6_FILTER: 1,
  MSG_DONTWAIT: 0x40,
  MSG_TRUNC: 0x20,
  MSG_ERRQUEUE: 0x2000,
  CLOCK_REALTIME: 0,
  POLLOUT: 4,
  EBADF: 9,
  EPIPE: 32,
  EAGAIN: 11,
  EMSGSIZE: 90,
  ENOBUFS: 105,
  ECONNRESET: 104,
  ECONNREFUSED: 111,
  EHOSTUNREACH: 113,
  EINPROGRESS: 115,
} as const;

const architectures: readonly string[] = ['x64', 'arm64', 'riscv64', 'loong64'];

/** Binds libc by koffi. Throws if the system is not one whose structures and numbers are known here. */
export async function loadLibc(): Promise<PingLibc> {
  if (process.platform !== 'linux' || !architectures.includes(process.arch) || endianness() !== 'LE') {
    throw new Error(
      `ping is made for Linux on ${architectures.join(', ')}; this is ${process.platform} ${process.arch}`,
    );
  }
  const libc = await bindCLibrary((program, koffi): PingLibc => ({
    socket: program.func('socket', 'int', ['int', 'int', 'int']),
    bind: program.func('bind', 'int', ['int', 'void *', 'uint32_t']),
    connect: program.func('connect', 'int', ['int', 'void *', 'uint32_t']),
    setsockopt: program.func('setsockopt', 'int', ['int', 'int', 'int', 'void *', 'uint32_t']),
    getsockopt: program.func('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *']),
    sendto: program.func('sendto', 'int64_t', ['int', 'void *', 'size_t', 'int', 'void *', 'uint32_t']),
    recvmmsg: program.func('recvmmsg', 'int', ['int', 'void *', 'uint32_t', 'int', 'void *']),
    poll: program.func('poll', 'int', ['void *', 'unsigned long', 'int']),
    clock_gettime: program.func('clock_gettime', 'int', ['int', 'void *']),
    close: program.func('close', 'int', ['int']),
    errno: () => koffi.errno(),
    setErrno: (errno) => void koffi.errno(errno),
    address: (bytes) => koffi.address(bytes),
  }));
  warmUp(libc);
  return libc;
}

/** `EACCES` for 13. */
function errorName(errno: number): string {
  return getSystemErrorName(-errno);
}

/** `permission denied (EACCES)` for 13. */
export function describeError(errno: number): string {
  return `${getSystemErrorMessage(-errno)} (${errorName(errno)})`;
}

// koffi prepares a function on its first use: that must not fall between a time stamp and a send.
function warmUp(libc: PingLibc): void {
  const scratch = new Uint8Array(new ArrayBuffer(128));
  libc.clock_gettime(linux.CLOCK_REALTIME, scratch);
  libc.sendto(-1, scratch, 0, linux.MSG_DONTWAIT, scratch, 0);
  libc.poll(scratch, 0, 0);
  libc.recvmmsg(-1, scratch, 0, linux.MSG_DONTWAIT, null);
  libc.setsockopt(-1, 0, 0, scratch, 0);
  libc.getsockopt(-1, 0, 0, scratch, scratch);
  libc.bind(-1, scratch, 0);
  libc.connect(-1, scratch, 0);
}
