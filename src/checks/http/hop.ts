import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { DeadlineError, orAbort } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { formatDuration } from '#kernel/units.ts';
import type { ProbeEnvironment } from '../check.ts';
import { closeSocket, type Connection, type DataReceiver, type ConnectionFailure } from '../connection.ts';
import type { PinnedAddress } from '../gate.ts';
import { stapleFailure } from '../revocation/ocsp.ts';
import { type Failure, failure } from '../outcome.ts';
import type { ArrivedAt, SentAt } from '../arrivals.ts';
import type { Network } from '../reach.ts';
import type { Certificate } from '../certificate.ts';
import { handshakeFailure, verifyCertificate, startTls, type TlsOptions } from '../tls-connection.ts';
import { arrivedBody, type Body, codingFault, codingsIn, emptyBody, readBody } from './body.ts';
import { exchangeFailure } from './exchange-failure.ts';
import type { Head } from './head.ts';
import { requestHttp1 } from './http1.ts';
import { requestHttp2 } from './http2.ts';
import type { HopRequest } from './redirect.ts';
import { secureOptions } from './secure.ts';
import type { HttpExpectation, Spec } from './spec.ts';
import type { Stopwatch } from './stopwatch.ts';
import { goThroughProxy, isDirect, isSocks, placeOf, proxyFailure, refusalOf, throughProxy } from './tunnel.ts';

/** How requests are to be made. */
export interface HopSettings extends Pick<Spec, 'tls' | 'http2' | 'max_body' | 'redirects' | 'proxy'> {
  readonly expect: Pick<HttpExpectation, 'stapled'>;
}

export interface HopOptions {
  readonly spec: HopSettings;
  readonly environment: ProbeEnvironment;
  readonly network: Network;
  readonly watch: Stopwatch;
  /** Whether the content of the body is wanted; otherwise it is counted only. */
  readonly keep: boolean;
  /** Told the head as soon as it is there; false leaves the body unread. */
  readonly wantsBody: (head: Head) => boolean;
  /** Called with all that is read of a body. */
  readonly onBytes?: ((bytes: Buffer) => void) | undefined;
}

/** What one request brought, as far as it came. */
export interface HopResult {
  timedBy: Connection['timedBy'] | null;
  certificate: Certificate | null;
  tlsProtocol: string | null;
  head: Head | null;
  body: Body | null;
  failure: Failure | null;
}

/** Connects to the pinned address, sends one request and reads its answer. All it opened is closed when it settles. */
export async function sendRequest(request: HopRequest, pinned: PinnedAddress, options: HopOptions): Promise<HopResult> {
  const { watch, spec } = options;
  const result: HopResult = {
    timedBy: null,
    certificate: null,
    tlsProtocol: null,
    head: null,
    body: null,
    failure: null,
  };
  const security = request.target.secure ? prepare(spec, request) : null;
  if (security !== null && 'code' in security) return { ...result, failure: security };
  const { proxy } = spec;
  const port = proxy === undefined ? request.target.port : placeOf(proxy).port;
  const incoming: DataReceiver | undefined = security === null && isDirect(proxy) ? { take: () => {} } : undefined;
  watch.begin('connect', 'the connection');
  const use = async (connection: Connection | ConnectionFailure): Promise<HopResult> => {
    if (!connection.ok) {
      const { reset } = connection;
      watch.end(reset?.seconds);
      const reason =
        reset === null ? connection.failure : resetFailure(reset.error, security !== null && proxy === undefined);
      return {
        ...result,
        timedBy: reset?.timedBy ?? null,
        failure: proxy === undefined ? reason : proxyFailure(proxy, reason),
      };
    }
    watch.end(connection.seconds);
    result.timedBy = connection.timedBy;
    try {
      await exchangeThrough(
        connection.socket,
        async (socket) => {
          const { arrivedAt, sentAt } = connection;
          if (security === null)
            await exchangePlainly(socket, request, { ...options, incoming, arrivedAt, sentAt }, result);
          else await exchangeSecurely(socket, request, security, { ...options, arrivedAt, sentAt }, result);
        },
        { request, options, result, arrivedAt: connection.arrivedAt },
      );
    } finally {
      watch.end();
    }
    return result;
  };
  return options.network.connect(pinned, port, use, { incoming, mostBytes: spec.max_body });
}

function resetFailure(error: Error, secured: boolean): Failure {
  return secured ? handshakeFailure(error) : exchangeFailure(error, 'the first byte');
}

interface HopExchange {
  readonly request: HopRequest;
  readonly options: HopOptions;
  readonly result: HopResult;
  readonly arrivedAt: ArrivedAt;
}

/** Exchanges request and answer on a connection to the target, or to its proxy. */
async function exchangeThrough(
  socket: Socket,
  use: (socket: Socket) => Promise<void>,
  {
    request: { target },
    options: {
      spec: { proxy },
      network,
      watch,
      environment: { clock },
    },
    result,
    arrivedAt,
  }: HopExchange,
): Promise<void> {
  const isTunnel = proxy !== undefined && (target.secure || isSocks(proxy));
  if (proxy === undefined || (!isTunnel && isDirect(proxy))) return use(socket);
  watch.begin('proxy', 'the tunnel of the proxy');
  const onResolved = (seconds: number) => {
    watch.add('resolve', seconds);
    watch.add('proxy', -seconds);
  };
  const through = await goThroughProxy(socket, isTunnel ? target : null, proxy, { network, clock, onResolved });
  if (!through.ok) {
    result.failure = through.failure;
    return;
  }
  watch.endAt(arrivedAt());
  try {
    await use(through.socket);
  } finally {
    if (through.socket !== socket) await closeSocket(through.socket);
  }
}

type ExchangeOptions = HopOptions & {
  readonly incoming?: DataReceiver | undefined;
  /** Of the connection below, to the target or to its proxy. */
  readonly arrivedAt: ArrivedAt;
  readonly sentAt: SentAt;
};

async function exchangePlainly(
  socket: Socket,
  request: HopRequest,
  options: ExchangeOptions,
  result: HopResult,
): Promise<void> {
  const { proxy } = options.spec;
  if (proxy === undefined || isSocks(proxy)) return exchange(socket, request, options, result);
  await exchange(socket, throughProxy(request, proxy), options, result);
  if (result.head?.status !== 407) return;
  result.failure = proxyFailure(proxy, failure('target', 'status', refusalOf('407', `407 ${result.head.reason}`)));
}

function prepare(spec: HopSettings, request: HopRequest): TlsOptions | Failure {
  try {
    return secureOptions(spec, request);
  } catch (error) {
    return failure('node', 'unsupported', `the certificates in "tls" cannot be used: ${messageOf(error)}`);
  }
}

async function exchangeSecurely(
  socket: Socket,
  request: HopRequest,
  security: TlsOptions,
  options: ExchangeOptions,
  result: HopResult,
): Promise<void> {
  const { watch, spec, network, environment, arrivedAt } = options;
  const { signal } = network;
  watch.begin('tls', 'the TLS handshake');
  let secured: TLSSocket | null = null;
  let staple: Buffer | null = null;
  const isStapled = spec.expect.stapled === true;
  const onStaple = isStapled ? (response: Buffer | null) => void (staple = response) : undefined;
  try {
    secured = await startTls(socket, { ...security, onStaple }, signal);
  } catch (error) {
    result.failure = lateFailure(signal, watch) ?? handshakeFailure(error);
    return;
  }
  watch.endAt(arrivedAt());
  try {
    const now = environment.clock.now();
    const verified = verifyCertificate(secured, security.serverName, now);
    result.certificate = verified.certificate;
    result.tlsProtocol = secured.getProtocol();
    if (spec.tls.verify) result.failure = verified.failure;
    const [leaf, issuer] = verified.chain;
    if (isStapled && leaf !== undefined) result.failure ??= stapleFailure(staple, leaf, issuer, now);
    if (result.failure === null) await exchange(secured, request, options, result);
  } finally {
    await closeSocket(secured);
  }
}

async function exchange(
  socket: Socket,
  request: HopRequest,
  options: ExchangeOptions,
  result: HopResult,
): Promise<void> {
  const { watch, network, environment, wantsBody, incoming, arrivedAt, sentAt } = options;
  const { signal } = network;
  let first: Error | null = null;
  const onError = (error: Error) => {
    first ??= error;
  };
  socket.on('error', onError);
  const send = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2' ? requestHttp2 : requestHttp1;
  watch.begin('first_byte', 'the first byte');
  let since = 0;
  const onSend = () => watch.restartAt((since = environment.clock.elapsed()));
  const onSent = () => watch.restartAt(sentAt(since));
  // What came meanwhile is no part of what comes next: that begins when this had come, not when it is read.
  const onFirstByte = () => watch.beginAt(arrivedAt(), 'transfer', 'the headers');
  try {
    const head = await orAbort(send(socket, { request, incoming, onSend, onSent, onFirstByte, onError }), signal);
    result.head = head;
    watch.waitingFor = 'the body';
    if (head.stream === null) result.body = emptyBody;
    else if (wantsBody(head)) await receive(head, head.stream, options, result);
    watch.endAt(arrivedAt(head.endsWithConnection() ? 'segment' : 'data'));
  } catch (error) {
    result.failure = lateFailure(signal, watch) ?? exchangeFailure(first ?? error, watch.waitingFor);
  }
}

async function receive(
  { headers, isWhole, arrived }: Head,
  stream: NonNullable<Head['stream']>,
  { spec, keep, onBytes, network: { signal } }: HopOptions,
  result: HopResult,
): Promise<void> {
  const codings = keep ? codingsIn(headers['content-encoding']) : [];
  const fault = codingFault(codings);
  if (fault !== null) {
    result.failure = failure('target', 'protocol', fault);
    return;
  }
  const limit = spec.max_body;
  const pieces = codings.length === 0 ? arrived() : null;
  result.body =
    pieces === null
      ? await orAbort(readBody(stream(), { limit, codings, keep, isWhole, onBytes }), signal)
      : arrivedBody(pieces, { limit, keep, onBytes });
}

/** The failure of a probe whose own deadline has passed; throws if the check was cancelled; null if it still has time. */
function lateFailure(signal: AbortSignal, { waitingFor }: Stopwatch): Failure | null {
  const reason: unknown = signal.reason;
  if (reason instanceof DeadlineError) {
    return failure('target', 'timeout', `timeout after ${formatDuration(reason.ms)} while waiting for ${waitingFor}`);
  }
  signal.throwIfAborted();
  return null;
}
