import type { Socket } from 'node:net';
import { type RawData, WebSocket } from 'ws';
import { userAgent } from '#kernel/version.ts';
import { bytesOf, matcherOf } from '../payload.ts';
import type { Spec } from './spec.ts';

/** The server answered the handshake with something else than the change of protocols. */
export class UpgradeRefusedError extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  constructor(status: number) {
    super(`the server answered ${status} instead of changing to WebSocket`);
    this.status = status;
  }
}

/** The server closed the WebSocket (RFC 6455, section 7.4). */
export class ConnectionClosedError extends Error {
  override readonly name = 'Closed';
}

export interface SessionOptions {
  readonly spec: Spec;
  readonly url: string;
  readonly onOpen: (protocol: string) => void;
  /** Called with every message, the expected one included. */
  readonly onMessage: (message: Buffer) => void;
}

const largestMessage = 1_048_576;

/**
 * Opens a WebSocket on a connection, sends, and waits for what is expected. Rejects with `Refused`, `Closed`, or the error that ended
 * it. The caller closes the socket.
 */
export async function hold(socket: Socket, { spec, url, onOpen, onMessage }: SessionOptions): Promise<void> {
  const matches = spec.expect === undefined ? null : matcherOf(spec.expect);
  return new Promise((resolve, reject) => {
    const session = new WebSocket(url, spec.protocol === undefined ? [] : [spec.protocol], {
      createConnection: () => socket,
      headers: { 'user-agent': userAgent, ...spec.headers },
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: largestMessage,
    });
    session.on('error', reject);
    session.once('unexpected-response', (_request, response) =>
      reject(new UpgradeRefusedError(response.statusCode ?? 0)),
    );
    session.once('open', () => {
      onOpen(session.protocol);
      if (spec.send !== undefined) session.send(bytesOf(spec.send).toString('utf8'));
      if (matches === null) leave();
    });
    session.on('message', (data) => {
      const message = bufferOf(data);
      onMessage(message);
      if (matches?.(message) === true) leave();
    });
    session.once('close', (code, reason) => {
      const why = reason.length === 0 ? '' : `: ${reason.toString('utf8')}`;
      reject(new ConnectionClosedError(`the server closed the WebSocket with ${code}${why}`));
    });
    // A leave that is said: the other side need not wait for one that has gone.
    const leave = () => {
      session.close(1_000);
      resolve();
    };
  });
}

function bufferOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
