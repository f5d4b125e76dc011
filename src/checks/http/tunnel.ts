import { isIP, type Socket } from 'node:net';
import { type Clock, DeadlineError, orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import { closeSocket } from '../connection.ts';
import { formatHostPort, formatHost, parseEndpoint } from '../endpoint.ts';
import type { PinnedAddress, GateRefusal } from '../gate.ts';
import { type Failure, failure, thirdPartyFailure } from '../outcome.ts';
import type { Network } from '../reach.ts';
import { handshakeFailure, startTls, verifyCertificate } from '../tls-connection.ts';
import { EndedEarly } from './body.ts';
import { exchangeFailure } from './exchange-failure.ts';
import { HeadersTooLarge, maxHeaderBytes } from './head.ts';
import { type HopRequest, type RedirectTarget, urlOf } from './redirect.ts';
import { encodeBasic } from './request.ts';
import type { HttpProxy } from './proxy.ts';
import { connectOverSocks, SocksRefusal } from './socks.ts';

/** Where a proxy is. */
export function placeOf({ url }: HttpProxy): { readonly name: string; readonly port: number } {
  const endpoint = parseEndpoint(url);
  if (!endpoint.ok) throw new TypeError(`proxy "${url}" ${endpoint.message}`);
  return { name: endpoint.name, port: endpoint.port ?? (isSocks({ url }) ? 1080 : isOverTls({ url }) ? 443 : 80) };
}

/** Whether a proxy speaks SOCKS: then it makes a tunnel to any target. */
export function isSocks({ url }: Pick<HttpProxy, 'url'>): boolean {
  return url.toLowerCase().startsWith('socks');
}

function isOverTls({ url }: Pick<HttpProxy, 'url'>): boolean {
  return url.toLowerCase().startsWith('https:');
}

/** Whether the request can be sent as soon as there is a connection: to the target, or to a proxy over HTTP without TLS. */
export function isDirect(proxy: HttpProxy | undefined): boolean {
  return proxy === undefined || (!isSocks(proxy) && !isOverTls(proxy));
}

/** A failure to reach or to use a proxy: it tells nothing of the target. */
export function proxyFailure(proxy: HttpProxy, reason: Failure): Failure {
  const { name, port } = placeOf(proxy);
  const { password } = proxy;
  const message =
    password === undefined || password === '' ? reason.message : reason.message.replaceAll(password, '***');
  return thirdPartyFailure(`the proxy ${formatHostPort(name, port)}`, { ...reason, message });
}

/** What became of the name that was resolved: that of the proxy, if there is one. */
export function attributeToProxy(
  proxy: HttpProxy | undefined,
  pinned: PinnedAddress | GateRefusal,
): PinnedAddress | GateRefusal {
  return pinned.ok || proxy === undefined ? pinned : { ...pinned, failure: proxyFailure(proxy, pinned.failure) };
}

/** A request without encryption as a proxy is to get it (RFC 9112, section 3.2.2). */
export function throughProxy(request: HopRequest, proxy: HttpProxy): HopRequest {
  const { target, headers } = request;
  return { ...request, target: { ...target, path: urlOf(target) }, headers: { ...headers, ...credentialsOf(proxy) } };
}

/** Where a tunnel is to lead. */
export type TunnelTarget = Pick<RedirectTarget, 'name' | 'port'>;

export interface TunnelOptions {
  readonly network: Pick<Network, 'pin' | 'signal'>;
  readonly clock: Clock;
  /** Called with the seconds that resolving the name of the target took, if the node does. */
  readonly onResolved: (seconds: number) => void;
}

export type TunnelResult =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly failure: Failure };

/**
 * Goes through a proxy on an open connection to it: TLS if it wants that, and a tunnel to the target, or none if that is null. The
 * caller closes the socket of the result before the one below it. Rejects only if the check was cancelled.
 */
export async function goThroughProxy(
  socket: Socket,
  target: TunnelTarget | null,
  proxy: HttpProxy,
  options: TunnelOptions,
): Promise<TunnelResult> {
  const { signal } = options.network;
  // Until the proxy has been asked for the target, silence is its own.
  let isAsked = false;
  let open = socket;
  try {
    if (isOverTls(proxy)) {
      const { name } = placeOf(proxy);
      const secured = await startTls(socket, { serverName: name, ca: proxy.ca }, signal);
      open = secured;
      const wrong = verifyCertificate(secured, name, options.clock.now()).failure;
      if (wrong !== null) throw new SocksRefusal(wrong, false);
    }
    const onAsked = () => {
      isAsked = true;
    };
    const wrong = target === null ? null : await openTunnel(open, target, proxy, { ...options, onAsked });
    if (wrong === null) return { ok: true, socket: open };
    if (open !== socket) await closeSocket(open);
    return { ok: false, failure: wrong };
  } catch (error) {
    if (open !== socket) await closeSocket(open);
    const reason: unknown = signal.reason;
    if (reason instanceof DeadlineError) {
      const late = failure(
        'target',
        'timeout',
        `timeout after ${formatDuration(reason.ms)} while waiting for the tunnel of the proxy`,
      );
      return { ok: false, failure: isAsked ? late : proxyFailure(proxy, late) };
    }
    signal.throwIfAborted();
    if (error instanceof SocksRefusal)
      return { ok: false, failure: error.ofTarget ? error.failure : proxyFailure(proxy, error.failure) };
    return {
      ok: false,
      failure: proxyFailure(
        proxy,
        open === socket && isOverTls(proxy) ? handshakeFailure(error) : exchangeFailure(error, 'the tunnel'),
      ),
    };
  }
}

async function openTunnel(
  socket: Socket,
  target: TunnelTarget,
  proxy: HttpProxy,
  { network, onResolved, onAsked }: TunnelOptions & { readonly onAsked: () => void },
): Promise<Failure | null> {
  if (!isSocks(proxy)) {
    onAsked();
    return connectOverHttp(socket, target, proxy, network.signal);
  }
  let host = target.name;
  if (proxy.url.toLowerCase().startsWith('socks5:') && isIP(host) === 0) {
    const pinned = await network.pin(host);
    onResolved(pinned.seconds);
    if (!pinned.ok) return pinned.failure;
    host = pinned.address;
  }
  const { username, password } = proxy;
  const credentials = username === undefined || password === undefined ? null : { username, password };
  const { port } = target;
  await connectOverSocks(socket, { host, port, credentials, onAccepted: onAsked, signal: network.signal });
  return null;
}

/** Has a proxy connect to the target (RFC 9110, section 9.3.6): null where the socket leads there now, else why not. */
async function connectOverHttp(
  socket: Socket,
  target: TunnelTarget,
  proxy: HttpProxy,
  signal: AbortSignal,
): Promise<Failure | null> {
  const authority = formatHostPort(target.name, target.port);
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  for (const [name, value] of Object.entries(credentialsOf(proxy))) lines.push(`${name}: ${value}`);
  const head = readHead(socket);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return judge(await orAbort(head, signal), target, proxy);
}

function judge(head: string, target: TunnelTarget, proxy: HttpProxy): Failure | null {
  const [, code, reason = ''] = /^HTTP\/1\.[01] ([1-9]\d\d)(?: ([^\r\n]*))?\r?\n/.exec(head) ?? [];
  if (code === undefined) return proxyFailure(proxy, failure('target', 'protocol', 'its answer is not valid HTTP'));
  if (code.startsWith('2')) return null;
  const said = singleLine(`${code} ${reason}`, 100);
  if (!unreached.has(code)) return proxyFailure(proxy, failure('target', 'status', refusalOf(code, said)));
  return failure('target', 'unreachable', `the proxy could not connect to ${formatHost(target.name)}: ${said}`);
}

/** What an answer means by which a proxy wants to know who asks. */
export function refusalOf(code: string, said: string): string {
  return code === '407' ? `it wants a user name and password, or others than these (${said})` : `it refuses (${said})`;
}

// What proxies answer if the target does not take the connection, or has no address.
const unreached: ReadonlySet<string> = new Set(['502', '503', '504']);

function credentialsOf({ username, password }: HttpProxy): Record<string, string> {
  if (username === undefined || password === undefined) return {};
  return { 'proxy-authorization': `Basic ${encodeBasic({ username, password })}` };
}

// What comes behind the head is the target's.
async function readHead(socket: Socket): Promise<string> {
  let bytes = Buffer.alloc(0);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const onData = (piece: Buffer) => {
    bytes = Buffer.concat([bytes, piece]);
    const end = bytes.indexOf('\r\n\r\n');
    if (end === -1) return bytes.length > maxHeaderBytes ? reject(new HeadersTooLarge()) : undefined;
    socket.pause();
    const rest = bytes.subarray(end + 4);
    if (rest.length > 0) socket.unshift(rest);
    resolve(bytes.subarray(0, end + 4).toString('latin1'));
  };
  const onEnd = () => reject(new EndedEarly());
  socket.on('data', onData);
  socket.once('error', reject);
  socket.once('end', onEnd);
  socket.once('close', onEnd);
  try {
    return await promise;
  } finally {
    socket.off('data', onData);
    socket.off('error', reject);
    socket.off('end', onEnd);
    socket.off('close', onEnd);
  }
}
