import { messageOf } from '#kernel/errors.ts';
import type { AddressFamily } from '../address.ts';
import { describeError, linux, type PingLibc } from '../ping/libc.ts';
import { sharedReceiveBuffer, type ReceiveBuffer } from '../ping/receive-buffer.ts';
import { kindOfNotice, mtuOf, type OpenedPathSocket, type ProbeAnswer, type PathSocket } from './probe-socket.ts';
import { bindTo, setOption, socketAddress } from './socket-options.ts';

export interface ConnectionProbeOptions {
  readonly address: string;
  readonly family: AddressFamily;
  readonly port: number;
  readonly localAddress: string | undefined;
}

// Offsets in struct tcp_info (linux/tcp.h), and the states of it.
const tcpInfo = { state: 0, rtt: 68, retransmissions: 100, length: 104 } as const;
// ESTABLISHED and, if the other end has closed already, CLOSE_WAIT.
const connectedStates: ReadonlySet<number> = new Set([1, 8]);
const closedState = 7;
// A reset in answer to a handshake is ECONNREFUSED; these come after it was done.
const resetErrors: ReadonlySet<number> = new Set([linux.ECONNRESET, linux.EPIPE]);

// struct pollfd (poll(2)).
const pollEntry = { length: 8, events: 4, result: 6 } as const;

/**
 * Opens connections with a small TTL, one for each probe, each from a port of its own: a process without privileges cannot have two
 * handshakes from one port. The ICMP error about a handshake comes through the socket's error queue; the kernel ends it then.
 */
export function openConnectionProbes(libc: PingLibc, options: ConnectionProbeOptions): OpenedPathSocket {
  // Tried once here, so that a source address or option that is refused is known before the first probe.
  const tried = openOne(libc, options, 1);
  if (!tried.ok) return tried;
  libc.close(tried.fd);
  return { ok: true, socket: new ConnectionProbes(libc, options) };
}

type OpenedConnection = { readonly ok: true; readonly fd: number } | { readonly ok: false; readonly reason: string };

function openOne(libc: PingLibc, { family, localAddress }: ConnectionProbeOptions, ttl: number): OpenedConnection {
  const domain = family === 4 ? linux.AF_INET : linux.AF_INET6;
  const fd = libc.socket(domain, linux.SOCK_STREAM | linux.SOCK_NONBLOCK | linux.SOCK_CLOEXEC, 0);
  if (fd === -1) return { ok: false, reason: `no TCP socket: ${describeError(libc.errno())}` };
  try {
    setOption(libc, fd, linux.SOL_SOCKET, linux.SO_TIMESTAMPNS, 1);
    if (family === 4) {
      setOption(libc, fd, linux.SOL_IP, linux.IP_RECVERR, 1);
      setOption(libc, fd, linux.SOL_IP, linux.IP_TTL, ttl);
    } else {
      setOption(libc, fd, linux.SOL_IPV6, linux.IPV6_RECVERR, 1);
      setOption(libc, fd, linux.SOL_IPV6, linux.IPV6_UNICAST_HOPS, ttl);
    }
    if (localAddress !== undefined) bindTo(libc, fd, { family, localAddress, port: 0 });
  } catch (error) {
    libc.close(fd);
    return { ok: false, reason: messageOf(error) };
  }
  return { ok: true, fd };
}

class ConnectionProbes implements PathSocket {
  readonly #libc: PingLibc;
  readonly #options: ConnectionProbeOptions;
  readonly #buffer: ReceiveBuffer;
  readonly #destination: Uint8Array;
  readonly #connections = new Map<number, number>();
  readonly #info = new Uint8Array(new ArrayBuffer(tcpInfo.length));
  readonly #length = new Uint8Array(new ArrayBuffer(4));

  constructor(libc: PingLibc, options: ConnectionProbeOptions) {
    this.#libc = libc;
    this.#options = options;
    this.#buffer = sharedReceiveBuffer(libc);
    this.#destination = socketAddress(options.address, options.family, options.port);
  }

  send(probe: number, ttl: number) {
    const opened = openOne(this.#libc, this.#options, ttl);
    if (!opened.ok) return { ok: false, errno: this.#libc.errno() } as const;
    const wallMs = this.#buffer.wallMs();
    const result = this.#libc.connect(opened.fd, this.#destination, this.#destination.length);
    const errno = result === -1 ? this.#libc.errno() : 0;
    if (errno !== 0 && errno !== linux.EINPROGRESS) {
      this.#libc.close(opened.fd);
      return { ok: false, errno } as const;
    }
    this.#connections.set(probe, opened.fd);
    return { ok: true, wallMs } as const;
  }

  drain(onAnswer: (answer: ProbeAnswer) => void): void {
    const open = [...this.#connections];
    if (open.length === 0) return;
    const entries = new DataView(new ArrayBuffer(open.length * pollEntry.length));
    for (const [index, [, fd]] of open.entries()) {
      entries.setInt32(index * pollEntry.length, fd, true);
      entries.setInt16(index * pollEntry.length + pollEntry.events, linux.POLLOUT, true);
    }
    if (this.#libc.poll(new Uint8Array(entries.buffer), open.length, 0) <= 0) return;
    for (const [index, [probe, fd]] of open.entries()) {
      if (entries.getInt16(index * pollEntry.length + pollEntry.result, true) === 0) continue;
      const answer = this.#answerOf(probe, fd);
      if (answer === null) continue;
      this.#connections.delete(probe);
      // A connection that was made is reset when it is closed: there is nothing to say on it.
      if (answer.kind === 'connected') setOption(this.#libc, fd, linux.SOL_SOCKET, linux.SO_LINGER, 1, 0);
      this.#libc.close(fd);
      onAnswer(answer);
    }
  }

  wallMs(): number {
    return this.#buffer.wallMs();
  }

  close(): void {
    for (const fd of this.#connections.values()) this.#libc.close(fd);
    this.#connections.clear();
  }

  #errorOf(fd: number): number {
    const error = new Uint8Array(new ArrayBuffer(4));
    new DataView(this.#length.buffer).setUint32(0, error.length, true);
    this.#libc.getsockopt(fd, linux.SOL_SOCKET, linux.SO_ERROR, error, this.#length);
    return new DataView(error.buffer).getInt32(0, true);
  }

  #answerOf(probe: number, fd: number): ProbeAnswer | null {
    const { address, family } = this.#options;
    new DataView(this.#length.buffer).setUint32(0, tcpInfo.length, true);
    if (this.#libc.getsockopt(fd, linux.IPPROTO_TCP, linux.TCP_INFO, this.#info, this.#length) === -1) return null;
    const view = new DataView(this.#info.buffer);
    const state = view.getUint8(tcpInfo.state);
    if (connectedStates.has(state)) return { probe, address, kind: 'connected', stampMs: null, ...roundTripOf(view) };
    // An error that comes while the call is still sending does not end the handshake (tcp_v4_err): it is in the queue all the same.
    if (this.#buffer.take(fd, linux.MSG_ERRQUEUE) > 0) {
      const [received] = this.#buffer.packets;
      const notice = received?.notice ?? null;
      const kind = notice === null || !notice.fromNetwork ? null : kindOfNotice(family, notice);
      if (received !== undefined && notice !== null && kind !== null) {
        return { probe, address: notice.by, kind, stampMs: received.stampMs, ...mtuOf(notice) };
      }
    }
    if (state !== closedState) return null;
    const error = this.#errorOf(fd);
    if (resetErrors.has(error)) return { probe, address, kind: 'connected', stampMs: null, ...roundTripOf(view) };
    return error === linux.ECONNREFUSED ? { probe, address, kind: 'refused', stampMs: null } : null;
  }
}

// The kernel measures it, exactly unless it had to send again.
function roundTripOf(info: DataView): { readonly seconds?: number } {
  const microseconds = info.getUint32(tcpInfo.rtt, true);
  const isExact = microseconds > 0 && info.getUint32(tcpInfo.retransmissions, true) === 0;
  return isExact ? { seconds: microseconds / 1e6 } : {};
}
