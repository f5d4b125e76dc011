import { endianness } from 'node:os';
import { bindCLibrary } from '#kernel/c-library.ts';

/** The kernel's routing tables, asked over a socket of rtnetlink(7). No question waits: the kernel answers within the call. */
export interface Netlink {
  /** Asks one question: what it answers, from the header of its type on; the number of an error; or null for no answer at all. */
  ask(type: number, header: Uint8Array, attributes?: readonly Attribute[]): Buffer | number | null;
}

export interface Attribute {
  readonly type: number;
  readonly value: Uint8Array;
}

/** Prepares questions, once for the process; null on systems other than Linux, and where the native binding does not load. */
export async function loadNetlink(): Promise<Netlink | null> {
  netlink ??= prepare();
  return netlink;
}

let netlink: Promise<Netlink | null> | undefined;

/** Messages that the kernel multicasts when links, routes or neighbours change (rtnetlink(7)). */
export interface Notifications {
  /** Gives the messages that have come since the last call, in order: type and body. It never waits. */
  read(take: (type: number, body: Buffer) => void): void;
}

/**
 * Listens to multicast groups of rtnetlink(7) from now on, until the thread ends; no right is needed. Nothing wakes up for what comes in:
 * it waits in the kernel's buffer, if what has no room is lost. Null where `loadNetlink` gives null, or where the kernel refuses.
 */
export async function listenToNetlink(groups: number): Promise<Notifications | null> {
  const libc = await load();
  if (libc === null) return null;
  const fd = libc.socket(AF_NETLINK, SOCK_RAW_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return null;
  const address = Buffer.alloc(12);
  address.writeUInt16LE(AF_NETLINK, 0);
  address.writeUInt32LE(groups, 8);
  if (libc.bind(fd, address, address.length) < 0) {
    libc.close(fd);
    return null;
  }
  process.once('exit', () => libc.close(fd));
  const buffer = Buffer.alloc(mostNotificationBytes);
  return {
    read(take) {
      for (;;) {
        const length = libc.recv(fd, buffer, buffer.length, MSG_DONTWAIT);
        if (length <= 0) return;
        for (let at = 0; at + headBytes <= length;) {
          const size = buffer.readUInt32LE(at);
          if (size < headBytes) break;
          take(buffer.readUInt16LE(at + 4), buffer.subarray(at + headBytes, Math.min(length, at + size)));
          at += aligned(size);
        }
      }
    },
  };
}

// Numbers of Linux (`linux/netlink.h`, `linux/socket.h`).
const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC = 0o2000003;
const NETLINK_ROUTE = 0;
const NLM_F_REQUEST = 1;
const NLMSG_ERROR = 2;
const MSG_DONTWAIT = 0x40;
const headBytes = 16;
// What does not fit is cut off at its end; only the links' statistics are that long.
const mostBytes = 4_096;
const mostNotificationBytes = 32_768;

const load = async (): Promise<NetlinkLibc | null> =>
  process.platform === 'linux' && endianness() === 'LE' ? bind() : null;

async function prepare(): Promise<Netlink | null> {
  const libc = await load();
  if (libc === null) return null;
  return {
    ask(type, header, attributes = []) {
      const fd = libc.socket(AF_NETLINK, SOCK_RAW_CLOEXEC, NETLINK_ROUTE);
      if (fd < 0) return null;
      try {
        const question = encode(type, header, attributes);
        if (libc.send(fd, question, question.length, 0) < 0) return null;
        const answer = Buffer.alloc(mostBytes);
        const length = libc.recv(fd, answer, answer.length, MSG_DONTWAIT);
        return length < headBytes + 4 ? null : bodyOf(answer.subarray(0, length));
      } finally {
        libc.close(fd);
      }
    },
  };
}

/** The attributes behind a header of so many bytes. */
export function attributesOf(answer: Buffer, header: number): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>();
  let at = header;
  while (at + 4 <= answer.length) {
    const length = answer.readUInt16LE(at);
    if (length < 4) break;
    found.set(answer.readUInt16LE(at + 2), answer.subarray(at + 4, at + length));
    at += aligned(length);
  }
  return found;
}

function encode(type: number, header: Uint8Array, attributes: readonly Attribute[]): Buffer {
  const pieces = attributes.map(({ type, value }) => {
    const piece = Buffer.alloc(aligned(4 + value.length));
    piece.writeUInt16LE(4 + value.length, 0);
    piece.writeUInt16LE(type, 2);
    piece.set(value, 4);
    return piece;
  });
  const head = Buffer.alloc(headBytes);
  const question = Buffer.concat([head, header, ...pieces]);
  question.writeUInt32LE(question.length, 0);
  question.writeUInt16LE(type, 4);
  question.writeUInt16LE(NLM_F_REQUEST, 6);
  return question;
}

function bodyOf(answer: Buffer): Buffer | number {
  const body = answer.subarray(headBytes, Math.min(answer.length, answer.readUInt32LE(0)));
  return answer.readUInt16LE(4) === NLMSG_ERROR ? -body.readInt32LE(0) : body;
}

function aligned(length: number): number {
  return Math.ceil(length / 4) * 4;
}

interface NetlinkLibc {
  socket(domain: number, type: number, protocol: number): number;
  send(fd: number, bytes: Uint8Array, length: number, flags: number): number;
  recv(fd: number, bytes: Uint8Array, length: number, flags: number): number;
  bind(fd: number, address: Uint8Array, length: number): number;
  close(fd: number): number;
}

async function bind(): Promise<NetlinkLibc | null> {
  try {
    return await bindCLibrary((program) => ({
      socket: program.func('socket', 'int', ['int', 'int', 'int']),
      send: program.func('send', 'int64_t', ['int', 'void *', 'size_t', 'int']),
      recv: program.func('recv', 'int64_t', ['int', 'void *', 'size_t', 'int']),
      bind: program.func('bind', 'int', ['int', 'void *', 'uint32_t']),
      close: program.func('close', 'int', ['int']),
    }));
  } catch {
    // No binding for this platform: what the routing tables know stays unknown, and failures are judged by what the target shows.
    return null;
  }
}
