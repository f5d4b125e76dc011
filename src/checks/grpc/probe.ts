import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { DeadlineError, orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import { type ProbeEnvironment, type ProbeContext, startPlain } from '../check.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import { streamFailure } from '../network-errors.ts';
import { type Failure, failure, type Outcome, toSeconds } from '../outcome.ts';
import { type Talk, converseOver } from '../stream/talk.ts';
import { ClosedEarly, type GrpcResponse, call } from './call.ts';
import type { Detail } from './detail.ts';
import { encodeRequest, readResponse } from './message.ts';
import type { Spec } from './spec.ts';

export const start = startPlain(probe);

/** Asks a server for its health, as gRPC's health checking protocol has it (grpc.health.v1). */
export async function probe(
  spec: Spec,
  context: ProbeContext,
  environment: ProbeEnvironment,
  onResponse: (response: GrpcResponse) => void = () => {},
): Promise<Outcome<Detail>> {
  const endpoint = endpointOf(spec.host);
  const wishes = spec.tls === true ? { verify: true } : spec.tls;
  const tls = wishes === false ? null : { wishes, alpn: ['h2'] };
  const detail: Detail = { health: null, tls: null };
  return converseOver({ endpoint, spec, tls, detail }, context, environment, async (socket, found) => {
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2')
      return failure('target', 'protocol', 'the server does not speak HTTP/2');
    return ask(socket, spec, found, onResponse);
  });
}

async function ask(
  socket: Socket,
  spec: Spec,
  found: Talk<Detail>,
  onResponse: (response: GrpcResponse) => void,
): Promise<Failure | null> {
  const { clock, arrivedAt, signal } = found;
  const endpoint = endpointOf(spec.host);
  const start = clock.elapsed();
  const options = {
    name: endpoint.name,
    port: portOf(endpoint),
    secure: spec.tls !== false,
    onFirstByte() {
      found.findings.phases.first_byte = toSeconds(Math.max(0, arrivedAt() - start));
    },
  };
  try {
    const response = await orAbort(call(socket, encodeRequest(spec.health_of), options), signal);
    found.seconds = toSeconds(Math.max(0, arrivedAt() - start));
    onResponse(response);
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
    return failure('target', 'status', `gRPC status ${describeStatus(code, message)}`);
  }
  detail.health = readResponse(body);
  if (detail.health === null) return failure('target', 'protocol', 'the answer is no message of health');
  return detail.health === 'SERVING' ? null : failure('target', 'status', `its health is ${detail.health}`);
}

/** `UNAVAILABLE: draining`. */
export function describeStatus(code: number, message: string): string {
  const text = message === '' ? '' : `: ${singleLine(decodeURIComponentSafely(message))}`;
  return `${codes[code] ?? code}${text}`;
}

// Messages are percent-encoded (gRPC's PROTOCOL-HTTP2.md); one that is not well encoded is passed on unchanged.
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
