import { connect, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import type { Socket } from 'node:net';
import { EndedEarly } from './body.ts';
import { type Head, HeadersTooLarge, maxHeaderBytes, reasonOf, type RequestEvents } from './head.ts';
import { authorityOf, lengthOf, urlOf } from './redirect.ts';

/** Sends one request over an open TLS connection and resolves with the head of the final answer (RFC 9113). */
export async function requestHttp2(
  socket: Socket,
  { request, onSend, onSent, onFirstByte, onError }: RequestEvents,
): Promise<Head> {
  const { method, target, body } = request;
  const { host = authorityOf(target), ...headers } = request.headers;
  const length = lengthOf(request);
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      onError(error);
      reject(error);
    };
    let answered = false;
    const session = connect(urlOf(target), {
      createConnection: () => socket,
      settings: { enablePush: false, maxHeaderListSize: maxHeaderBytes },
    });
    session.on('error', fail);
    onSend();
    const stream = session.request(
      {
        ...headers,
        ...(length !== null && { 'content-length': String(length) }),
        [constants.HTTP2_HEADER_METHOD]: method,
        [constants.HTTP2_HEADER_SCHEME]: 'https',
        [constants.HTTP2_HEADER_AUTHORITY]: host,
        [constants.HTTP2_HEADER_PATH]: target.path,
      },
      { endStream: body === null },
    );
    // Node writes in a native immediate (`MaybeScheduleWrite` in node_http2.cc), which it runs before those of scripts.
    setImmediate(onSent);
    stream.on('error', fail);
    stream.once('headers', onFirstByte);
    stream.once(
      'response',
      (answer: IncomingHttpHeaders & IncomingHttpStatusHeader, _flags: number, raw: readonly string[]) => {
        answered = true;
        onFirstByte();
        if (sizeOf(answer) > maxHeaderBytes) return fail(new HeadersTooLarge());
        const status = answer[':status'] ?? 0;
        const isWhole = () => stream.rstCode === constants.NGHTTP2_NO_ERROR;
        resolve({
          status,
          reason: reasonOf(status, ''),
          version: '2',
          headers: answer,
          valuesOf: valuesIn(raw),
          stream: () => stream,
          arrived: () => null,
          isWhole,
          endsWithConnection: () => false,
        });
      },
    );
    stream.once('close', () => {
      if (!answered) fail(new EndedEarly());
    });
    if (body !== null) stream.end(body);
  });
}

// Names and values take turns.
function valuesIn(raw: readonly string[]): Head['valuesOf'] {
  return (name) => raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === name);
}

// RFC 9113, section 6.5.2. The setting of the same meaning is advice until the server has acknowledged it.
function sizeOf(headers: Readonly<Record<string, unknown>>): number {
  let size = 0;
  for (const [name, values] of Object.entries(headers)) {
    for (const value of Array.isArray(values) ? values : [values]) size += name.length + String(value).length + 32;
  }
  return size;
}
