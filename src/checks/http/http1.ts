import { type IncomingMessage, request as requestOf } from 'node:http';
import type { Socket } from 'node:net';
import { type Head, maxHeaderBytes, reasonOf, type Sending } from './head.ts';
import { authorityOf } from './redirect.ts';

/** Sends one request over an open connection and resolves with the head of the final answer (RFC 9112). */
export async function requestHttp1(socket: Socket, { request, onFirstByte, onError }: Sending): Promise<Head> {
  const { method, target, body } = request;
  const headers: string[] = [];
  if (request.headers['host'] === undefined) headers.push('Host', authorityOf(target));
  for (const [name, value] of Object.entries(request.headers)) headers.push(titleCase(name), value);
  if (body !== null) headers.push('Content-Length', String(Buffer.byteLength(body)));
  socket.prependOnceListener('data', onFirstByte);
  return new Promise((resolve, reject) => {
    const outgoing = requestOf({
      createConnection: () => socket,
      method,
      path: target.path,
      headers,
      maxHeaderSize: maxHeaderBytes,
    });
    outgoing.on('error', (error) => {
      onError(error);
      reject(error);
    });
    outgoing.once('response', (message) => resolve(headOf(message)));
    outgoing.once('upgrade', (message) => resolve({ ...headOf(message), stream: null }));
    outgoing.end(body ?? undefined);
  });
}

function headOf(message: IncomingMessage): Head {
  const status = message.statusCode ?? 0;
  return {
    status,
    reason: reasonOf(status, message.statusMessage),
    version: message.httpVersionMinor === 0 ? '1.0' : '1.1',
    headers: message.headers,
    valuesOf: (name) => message.headersDistinct[name] ?? [],
    stream: message,
    isWhole: () => message.complete,
  };
}

const commonNames: ReadonlyMap<string, string> = new Map([
  ['user-agent', 'User-Agent'],
  ['accept', 'Accept'],
  ['accept-encoding', 'Accept-Encoding'],
  ['authorization', 'Authorization'],
]);

// Names are case-insensitive (RFC 9110, section 5.1), but not to every old device.
function titleCase(name: string): string {
  return commonNames.get(name) ?? name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
