import type { Server, ServerResponse } from 'node:http';
import { BlockList, isIPv6, type Socket } from 'node:net';
import type { Clock } from '#kernel/clock.ts';
import { isLoopback, networkOf } from '#kernel/network.ts';
import { type SequenceEntry, Sequence } from '#kernel/sequence.ts';

/** Cuts a connection whose answer was not read whole within `answerMs` of the request. */
export function cutSlowReaders(server: Server, clock: Clock, answerMs: number): Disposable {
  // The idle timeout of a socket starts again with every byte, so a reader of one byte a second would stay for hours. Those that
  // wait stand in the order of their limits, so one timer does for all.
  const waiting = new Sequence<{ readonly response: ServerResponse; readonly until: number }>();
  let timer: Disposable | null = null;

  function cut(): void {
    timer = null;
    const now = clock.elapsed();
    for (let one = waiting.first; one !== null; one = waiting.first) {
      if (one.until > now) {
        timer = clock.after(one.until - now, cut);
        return;
      }
      waiting.shift();
      one.response.socket?.destroy();
    }
  }

  server.prependListener('request', (_, response) => {
    const place = waiting.add({ response, until: clock.elapsed() + answerMs });
    timer ??= clock.after(answerMs, cut);
    // It comes once, and `once` would wrap the listener anew for each request.
    response.on('close', () => place.leave());
  });
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
}

export interface ConnectionLimits {
  /** The most connections at the same time. */
  readonly connections: number;
  /** How many of them are kept for this machine itself. */
  readonly keptForLoopback: number;
  /** The most of one client: an IPv4 address or an IPv6 network of 64 bits. */
  readonly perClient: number;
}

/** As much of a socket as it takes to let it in or not. */
export type HttpConnection = Pick<Socket, 'remoteAddress' | 'destroy'>;

export interface Admission<One extends HttpConnection> {
  /** Lets a new connection in, at the cost of another one where there is no room; false where it may not stay. */
  admit(connection: One): boolean;
  /** A request began, or was answered: a connection is quiet until its first one and between two of them. */
  busy(connection: One): void;
  quiet(connection: One): void;
  closed(connection: One): void;
  /** Cuts those without a running request, those that never sent one included. */
  cutQuiet(): void;
}

/**
 * Decides who may be connected:
 *
 * 1. A client may have so many connections, all together so many. Where that is reached the one that has been quiet the longest
 *    goes for the new one: of this client, or of all. Where none is quiet the new one is refused.
 * 2. Some room is for this machine alone, so that nobody can keep it from asking how the program is. What is exempt (a trusted
 *    proxy speaks for many) has no limit of its own.
 */
export function createAdmission<One extends HttpConnection>(
  { connections, keptForLoopback, perClient }: ConnectionLimits,
  isExempt: (address: string) => boolean = () => false,
): Admission<One> {
  // In the order in which they became quiet. Node's own closeIdleConnections leaves those that never sent a request.
  const quiet = new Sequence<One>();
  const admitted = new Map<One, { readonly network: string | null; quiet: SequenceEntry | null }>();
  const counts = new Map<string, number>();
  let others = 0;

  function forget(connection: One): void {
    const known = admitted.get(connection);
    if (known === undefined) return;
    known.quiet?.leave();
    admitted.delete(connection);
    if (known.network === null) return;
    others -= 1;
    const left = (counts.get(known.network) ?? 1) - 1;
    if (left === 0) counts.delete(known.network);
    else counts.set(known.network, left);
  }

  function cutLongestQuiet(isIt: (network: string) => boolean): boolean {
    const found = quiet.find((connection) => {
      const network = admitted.get(connection)?.network ?? null;
      return network !== null && isIt(network);
    });
    if (found === null) return false;
    forget(found);
    found.destroy();
    return true;
  }

  function hasRoom(network: string, address: string): boolean {
    const isOverOwn = (counts.get(network) ?? 0) >= perClient && !isExempt(address);
    if (isOverOwn && !cutLongestQuiet((other) => other === network)) return false;
    return others < connections - keptForLoopback || cutLongestQuiet(() => true);
  }

  return {
    admit(connection) {
      const { remoteAddress = '' } = connection;
      const network = isLoopback(remoteAddress) ? null : networkOf(remoteAddress);
      if (network !== null) {
        if (!hasRoom(network, remoteAddress)) return false;
        others += 1;
        counts.set(network, (counts.get(network) ?? 0) + 1);
      }
      admitted.set(connection, { network, quiet: quiet.add(connection) });
      return true;
    },
    busy(connection) {
      const known = admitted.get(connection);
      known?.quiet?.leave();
      if (known !== undefined) known.quiet = null;
    },
    quiet(connection) {
      const known = admitted.get(connection);
      if (known !== undefined) known.quiet ??= quiet.add(connection);
    },
    closed: forget,
    cutQuiet() {
      for (const connection of quiet.items()) connection.destroy();
    },
  };
}

/** Lets a server's connections in by these limits. `end` cuts those without a running request, and the others after theirs. */
export function admitConnections(server: Server, admission: Admission<Socket>): { end(): void } {
  let isEnding = false;
  server.on('connection', (socket) => {
    if (!admission.admit(socket)) {
      socket.destroy();
      return;
    }
    socket.once('close', () => admission.closed(socket));
  });
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    admission.busy(socket);
    response.on('close', () => {
      if (isEnding) socket.end();
      else if (!socket.destroyed) admission.quiet(socket);
    });
  });
  return {
    end() {
      isEnding = true;
      admission.cutQuiet();
    },
  };
}

/** Whether an address is in one of these ranges, as they stand in the configuration. */
export function inRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=\d)/, '');
    return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
}
