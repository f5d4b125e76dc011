import type { Socket } from 'node:net';
import { type Clock, DeadlineError, orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import type { NodeEnvironment, ProbeContext } from '../check.ts';
import { closeSocket } from '../connection.ts';
import { type Endpoint, endpointOf, portOf } from '../endpoint.ts';
import { streamFailure } from '../network-errors.ts';
import { failed, type Failure, failure, type Outcome, toSeconds } from '../outcome.ts';
import { reach } from '../reach.ts';
import type { Findings } from '../tcp/conversation.ts';
import { secure } from '../tcp/secure.ts';
import { handshakeFailure } from '../tls-connection.ts';
import { ClosedEarly, type GrpcResponse, call } from './call.ts';
import type { Detail } from './detail.ts';
import { encodeRequest, readResponse } from './message.ts';
import type { Spec } from './spec.ts';

interface Found {
  readonly findings: Omit<Findings, 'detail'>;
  readonly detail: Detail;
  seconds: number | null;
}

interface Calling {
  readonly spec: Spec;
  readonly endpoint: Endpoint;
  readonly found: Found;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Asks a server for its health, as gRPC's health checking protocol has it (grpc.health.v1). */
export async function probe(spec: Spec, context: ProbeContext, environment: NodeEnvironment): Promise<Outcome<Detail>> {
  const endpoint = endpointOf(spec.host);
  const destination = { name: endpoint.name, family: spec.family, limitMs: spec.timeout, covers: 'check' } as const;
  return reach<Detail>(destination, context, environment, {
    probe: async ({ pinned, phases, signal, connect }) =>
      connect(pinned, portOf(endpoint), async (connection) => {
        const { address } = pinned;
        if (!connection.ok) {
          const { reset, failure: reason } = connection;
          const fault = spec.tls === false ? streamFailure : handshakeFailure;
          if (reset === null) return failed(reason, { address, phases });
          return failed(fault(reset.error), { address, phases: { ...phases, connect: reset.seconds } });
        }
        const found: Found = {
          findings: { phases: { ...phases, connect: connection.seconds }, facts: {} },
          detail: { health: null, tls: null },
          seconds: null,
        };
        const calling = { spec, endpoint, found, clock: environment.clock, signal };
        const wrong = await ask(connection.socket, calling);
        const { findings, detail, seconds } = found;
        const known = { address, ...findings, detail };
        if (wrong !== null || seconds === null) {
          return failed(wrong ?? failure('target', 'protocol', 'there was no answer'), { seconds, ...known });
        }
        return { status: 'up', seconds, ...known };
      }),
  });
}

async function ask(socket: Socket, calling: Calling): Promise<Failure | null> {
  const { spec, endpoint, found, clock, signal } = calling;
  if (spec.tls === false) return talk(socket, calling);
  const wishes = spec.tls === true ? { verify: true } : spec.tls;
  const { findings } = found;
  const secured = await secure(socket, endpoint.name, wishes, { findings, clock, signal, alpn: ['h2'] });
  found.detail.tls = secured.tls;
  if (!secured.ok) return secured.failure;
  try {
    if (secured.socket.alpnProtocol === 'h2') return await talk(secured.socket, calling);
    return failure('target', 'protocol', 'the server does not speak HTTP/2');
  } finally {
    await closeSocket(secured.socket);
  }
}

async function talk(socket: Socket, { spec, endpoint, found, clock, signal }: Calling): Promise<Failure | null> {
  const start = clock.elapsed();
  const options = {
    name: endpoint.name,
    port: portOf(endpoint),
    secure: spec.tls !== false,
    onFirstByte() {
      found.findings.phases.first_byte = toSeconds(clock.elapsed() - start);
    },
  };
  try {
    const response = await orAbort(call(socket, encodeRequest(spec.health_of), options), signal);
    found.seconds = toSeconds(clock.elapsed() - start);
    return judge(response, found.detail);
  } catch (error) {
    if (error instanceof DeadlineError) {
      return failure('target', 'timeout', `no answer within ${formatDuration(error.ms)}`);
    }
    signal.throwIfAborted();
    if (error instanceof ClosedEarly)
      return failure('target', 'closed', 'connection closed while waiting for the answer');
    return streamFailure(error, 'while waiting for the answer');
  }
}

function judge({ httpStatus, code, message, body }: GrpcResponse, detail: Detail): Failure | null {
  if (httpStatus !== 200) return failure('target', 'status', `HTTP status ${httpStatus} instead of an answer of gRPC`);
  if (code === null) return failure('target', 'protocol', 'the answer has no grpc-status');
  if (code !== 0) {
    const said = message === '' ? '' : `: ${singleLine(decodeURIComponentSafely(message))}`;
    return failure('target', 'status', `gRPC status ${codes[code] ?? code}${said}`);
  }
  detail.health = readResponse(body);
  if (detail.health === null) return failure('target', 'protocol', 'the answer is no message of health');
  return detail.health === 'SERVING' ? null : failure('target', 'status', `its health is ${detail.health}`);
}

// Messages are percent-encoded (gRPC's PROTOCOL-HTTP2.md); one that is not well encoded is told as it is.
function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

const codes = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];
