import type { Flight, Flights } from './flights.ts';
import { isFailure } from './notice.ts';
import { checksum, readEchoReply, readEchoRequest, samePayload } from './packet.ts';
import type { ReceivedPacket } from './receive-buffer.ts';
import { type Instant, roundTrip } from './round-trip.ts';
import { sameHost } from './socket-address.ts';
import type { EchoListener, EchoSocket } from './socket.ts';

export interface ListenerDependencies {
  readonly socket: EchoSocket;
  readonly flights: Flights;
  readonly now: () => Instant;
}

/** Finds for what the socket gets the request that it belongs to, and drops what belongs to none. */
export function createListener({ socket, flights, now }: ListenerDependencies): EchoListener {
  // Raw IPv4 sockets get packets before the kernel has checked them.
  const kernelChecks = socket.identifier === null || socket.family === 6;
  let takenAt = now();

  function find(identifier: number, sequence: number, { peer }: ReceivedPacket): Flight | null {
    if (socket.identifier !== null && identifier !== socket.identifier) return null;
    const flight = flights.get(sequence);
    return flight !== undefined && sameHost(peer, flight.sender.destination, socket.family) ? flight : null;
  }

  return {
    onTaken() {
      takenAt = now();
    },
    onMessage(received) {
      const echo = readEchoReply(socket.family, received.bytes);
      if (echo === null) return;
      const flight = find(echo.identifier, echo.sequence, received);
      if (flight === null) return;
      const { sender, index } = flight;
      const { payload } = sender.request;
      const intact = samePayload(echo.payload, payload) && (kernelChecks || checksum(received.bytes) === 0);
      const { ms, timedBy } = roundTrip(flight, received.stampMs, takenAt);
      sender.onArrival(index, { kind: 'reply', ms, timedBy, ttl: received.ttl, intact });
    },
    onNotice(received) {
      const echo = readEchoRequest(socket.family, received.bytes);
      if (echo === null || received.notice?.fromNetwork !== true) return;
      if (!isFailure(socket.family, received.notice)) return;
      const flight = find(echo.identifier, echo.sequence, received);
      if (flight === null) return;
      const { sender, index } = flight;
      const { payload } = sender.request;
      // Routers quote at least the header (RFC 792) and as a rule more: what is quoted must be ours.
      const quoted = Math.min(echo.payload.length, payload.length);
      if (!samePayload(echo.payload.subarray(0, quoted), payload.subarray(0, quoted))) return;
      const { ms } = roundTrip(flight, received.stampMs, takenAt);
      sender.onArrival(index, { kind: 'notice', ms, notice: received.notice });
    },
    onDeparture: (departure, atMs) => flights.departed(departure, atMs),
  };
}
