import type { Socket } from 'node:net';
import { orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatHostPort, formatHost, parseEndpoint } from '../endpoint.ts';
import type { PinnedAddress, GateRefusal } from '../gate.ts';
import { type Failure, failure, thirdPartyFailure } from '../outcome.ts';
import { EndedEarly } from './body.ts';
import { exchangeFailure } from './exchange-failure.ts';
import { HeadersTooLarge, maxHeaderBytes } from './head.ts';
import { type HopRequest, type RedirectTarget, urlOf } from './redirect.ts';
import { encodeBasic } from './request.ts';
import type { HttpProxy } from './proxy.ts';

/** Where a proxy is. */
export function placeOf({ url }: HttpProxy): { readonly name: string; readonly port: number } {
  const endpoint = parseEndpoint(url);
  if (!endpoint.ok) throw new TypeError(`proxy "${url}" ${endpoint.message}`);
  return { name: endpoint.name, port: endpoint.port ?? 80 };
}

/** A failure to reach or to use a proxy: it tells nothing of the target. */
export function proxyFailure(proxy: HttpProxy, reason: Failure): Failure {
  const { name, port } = placeOf(proxy);
  return thirdPartyFailure(`the proxy ${formatHostPort(name, port)}`, reason);
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

/**
 * Has a proxy connect to the target (RFC 9110, section 9.3.6): null where the socket leads there now, else why not. Rejects as
 * soon as the signal is aborted.
 */
export async function openTunnel(
  socket: Socket,
  target: RedirectTarget,
  proxy: HttpProxy,
  signal: AbortSignal,
): Promise<Failure | null> {
  const authority = formatHostPort(target.name, target.port);
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  for (const [name, value] of Object.entries(credentialsOf(proxy))) lines.push(`${name}: ${value}`);
  const head = readHead(socket);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  try {
    return judge(await orAbort(head, signal), target, proxy);
  } catch (error) {
    if (signal.aborted) throw error;
    return proxyFailure(proxy, exchangeFailure(error, 'the tunnel'));
  }
}

function judge(head: string, target: RedirectTarget, proxy: HttpProxy): Failure | null {
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
