import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { onceFor } from '#kernel/once-for.ts';
import { EndedEarly } from './body.ts';
import { type Head, maxHeaderBytes, reasonOf, type RequestEvents } from './head.ts';
import { loadResponseParser, type ParsedHead } from './llhttp.ts';
import { authorityOf, type HopRequest, lengthOf } from './redirect.ts';

/**
 * Sends one request over an open connection and resolves with the head of the final answer (RFC 9112). It does so without
 * `node:http`, which takes several times as much work for one request on a connection of its own.
 */
export async function requestHttp1(
  socket: Socket,
  { request, incoming, onSend, onFirstByte, onError }: RequestEvents,
): Promise<Head> {
  const makeParser = await loadResponseParser();
  if (socket.destroyed) throw socket.errored ?? new EndedEarly();
  return new Promise((resolve, reject) => {
    let head: Head | null = null;
    let pieces: Buffer[] = [];
    let body: Readable | null = null;
    let failure: Error | null = null;
    let whole = false;
    let isOver = false;
    let endsWithConnection = false;

    const stream = (): Readable => {
      body = new Readable({ read: () => void socket.resume() });
      // The reader finds its error; until then it must not end the process.
      body.on('error', () => {});
      for (const piece of pieces) body.push(piece);
      pieces = [];
      if (whole) body.push(null);
      else if (failure !== null) body.destroy(failure);
      return body;
    };
    const parser = makeParser(
      {
        onHead(parsed) {
          if (isInterim(parsed.status)) return 'body';
          const bodiless = request.method === 'HEAD' || parsed.status === 101;
          whole = parsed.status === 101;
          const arrived = () => (whole ? pieces : null);
          head = headOf(parsed, {
            stream: whole ? null : stream,
            arrived,
            isWhole: () => whole,
            endsWithConnection: () => endsWithConnection,
          });
          resolve(head);
          return bodiless ? 'no body' : 'body';
        },
        onBody(bytes) {
          const kept = incoming === undefined ? bytes : Buffer.from(bytes);
          if (body === null) pieces.push(kept);
          else if (!body.push(kept)) socket.pause();
        },
        onComplete() {
          if (head === null) return false;
          whole = true;
          endsWithConnection = isOver;
          body?.push(null);
          return true;
        },
      },
      maxHeaderBytes,
    );

    const fail = (error: Error) => {
      if (whole) return;
      onError(error);
      failure ??= error;
      body?.destroy(error);
      reject(error);
    };
    const attempt = (action: () => void) => {
      try {
        action();
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
      }
    };
    let isFirst = true;
    const take = (chunk: Buffer) => {
      if (isFirst) onFirstByte();
      isFirst = false;
      attempt(() => parser.read(chunk));
    };
    if (incoming === undefined) socket.on('data', take);
    else incoming.take = take;
    socket.once('end', () =>
      attempt(() => {
        isOver = true;
        parser.finish();
        if (!whole) fail(new EndedEarly());
      }),
    );
    socket.once('error', fail);
    socket.once('close', () => {
      if (!whole) fail(new EndedEarly());
      parser[Symbol.dispose]();
    });
    send(socket, request, onSend);
  });
}

// 101 is no interim answer: another protocol begins (RFC 9110, section 15.2.2).
function isInterim(status: number): boolean {
  return status < 200 && status !== 101;
}

function send(socket: Socket, request: HopRequest, onSend: () => void): void {
  const head = headOfRequest(request);
  const whole = request.body === null ? head : Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(request.body)]);
  onSend();
  socket.write(whole, 'latin1');
}

// The first request of a check is the same each time.
const headOfRequest = onceFor(headText);

function headText(request: HopRequest): string {
  const { method, target, headers } = request;
  let head = `${method} ${target.path} HTTP/1.1\r\n`;
  if (headers['host'] === undefined) head += `Host: ${authorityOf(target)}\r\n`;
  for (const [name, value] of Object.entries(headers)) head += `${titleCase(name)}: ${value}\r\n`;
  const length = lengthOf(request);
  if (length !== null) head += `Content-Length: ${length}\r\n`;
  // A spec has no such header, only a request for another protocol.
  return headers['connection'] === undefined ? `${head}Connection: close\r\n\r\n` : `${head}\r\n`;
}

type BodySource = Pick<Head, 'stream' | 'arrived' | 'isWhole' | 'endsWithConnection'>;

function headOf({ status, reason, minor, raw }: ParsedHead, rest: BodySource): Head {
  const values = new Map<string, string[]>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  const headers: IncomingHttpHeaders = {};
  for (const [name, list] of values) {
    if (name === 'set-cookie') headers[name] = list;
    else headers[name] = single.has(name) ? list[0] : list.join(', ');
  }
  return {
    status,
    reason: reasonOf(status, reason),
    version: minor === 0 ? '1.0' : '1.1',
    headers,
    valuesOf: (name) => values.get(name) ?? [],
    ...rest,
  };
}

// Of these the first counts, as with Node's own client: a list would mean something else.
const single: ReadonlySet<string> = new Set([
  'age',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
  'server',
]);

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
