import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { BlockList, isIPv6, type Socket } from 'node:net';
import type { Clock } from '#kernel/clock.ts';
import { Sequence, type SequenceEntry } from '#kernel/sequence.ts';
import type { Admission } from './admission.ts';

/** An answer that is to be read by then, and its place among the others. */
interface AwaitedAnswer {
  readonly response: ServerResponse;
  until: number;
  place: SequenceEntry | null;
}

/**
 * Cuts a connection whose answer was not read whole within `answerMs` of the request. If its client has read all that there is of it by
 * then, we are late ourselves: the client has as long again.
 */
export function cutSlowReaders(server: Server, clock: Clock, answerMs: number): Disposable {
  // The idle timeout of a socket starts again with every byte, so a reader of one byte a second would stay for hours. Those that
  // wait stand in the order of their limits, so one timer does for all.
  const waiting = new Sequence<AwaitedAnswer>();
  let timer: Disposable | null = null;

  function giveTime(one: AwaitedAnswer): void {
    one.until = clock.elapsed() + answerMs;
    one.place = waiting.add(one);
  }

  function cut(): void {
    timer = null;
    const now = clock.elapsed();
    for (let one = waiting.first; one !== null; one = waiting.first) {
      if (one.until > now) {
        timer = clock.after(one.until - now, cut);
        return;
      }
      waiting.shift();
      if (isReadSoFar(one.response)) giveTime(one);
      else one.response.socket?.destroy();
    }
  }

  server.prependListener('request', (_, response) => {
    const one: AwaitedAnswer = { response, until: 0, place: null };
    giveTime(one);
    timer ??= clock.after(answerMs, cut);
    // It comes once, and `once` would wrap the listener anew for each request.
    response.on('close', () => one.place?.leave());
  });
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
}

// Whether nothing waits to be read: a slow reader is seldom without something that does.
function isReadSoFar({ writableLength, socket }: ServerResponse): boolean {
  return writableLength === 0 && (socket?.writableLength ?? 0) === 0;
}

/**
 * Cuts a connection on which nothing came or went for `idleMs`, unless it waits for an answer to a whole request: on a machine in trouble
 * that may take long, and is no fault of the client.
 */
export function cutIdle(server: Server, idleMs: number): void {
  const asked = new WeakMap<Socket, { readonly request: IncomingMessage; readonly response: ServerResponse }>();
  server.prependListener('request', (request, response) => void asked.set(request.socket, { request, response }));
  server.setTimeout(idleMs, (socket) => {
    const last = asked.get(socket);
    const isOurTurn =
      last !== undefined && last.request.complete && !last.response.headersSent && !last.response.closed;
    if (isOurTurn) socket.setTimeout(idleMs);
    else socket.destroy();
  });
}

/**
 * Lets a server's connections in by these limits. A request is work from its last byte on; while its body comes, the connection is
 * idle. `end` cuts idle connections, and the others after their requests.
 */
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
    const { socket, headers } = request;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    if (hasBody) request.once('end', () => admission.busy(socket));
    else admission.busy(socket);
    response.on('close', () => {
      if (isEnding) socket.end();
      else if (!socket.destroyed) admission.idle(socket);
    });
  });
  return {
    end() {
      isEnding = true;
      admission.cutIdle();
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
