import { connect, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import type { Socket } from 'node:net';
import { userAgent } from '#kernel/version.ts';
import { formatHostPort } from '../endpoint.ts';

/** How a call ended, as its trailers say. */
export interface GrpcResponse {
  readonly httpStatus: number;
  /** `grpc-status`: 0 if all went well; null if there was none. */
  readonly code: number | null;
  readonly message: string;
  readonly body: Buffer;
}

/** The connection ended before there was an answer, in good order or by an error that `node:http2` met in writing and kept. */
export class ClosedEarly extends Error {
  override readonly name = 'ClosedEarly';
}

export interface GrpcCallOptions {
  readonly name: string;
  readonly port: number;
  readonly secure: boolean;
  readonly onFirstByte: () => void;
}

const largestResponse = 65_536;

/** Calls `grpc.health.v1.Health/Check` over an open connection, which is not closed. Rejects for what breaks the connection or HTTP/2. */
export async function call(
  socket: Socket,
  request: Buffer,
  { name, port, secure, onFirstByte }: GrpcCallOptions,
): Promise<GrpcResponse> {
  return new Promise((resolve, reject) => {
    const scheme = secure ? 'https' : 'http';
    const authority = formatHostPort(name, port);
    const session = connect(`${scheme}://${authority}`, {
      createConnection: () => socket,
      settings: { enablePush: false, maxHeaderListSize: 16_384 },
    });
    session.on('error', reject);
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_SCHEME]: scheme,
      [constants.HTTP2_HEADER_AUTHORITY]: authority,
      [constants.HTTP2_HEADER_PATH]: '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      'user-agent': userAgent,
      te: 'trailers',
    });
    let head: IncomingHttpHeaders & IncomingHttpStatusHeader = {};
    let trailers: IncomingHttpHeaders = {};
    const pieces: Buffer[] = [];
    let length = 0;
    stream.on('error', reject);
    stream.once('response', (headers: IncomingHttpHeaders & IncomingHttpStatusHeader) => {
      head = headers;
      onFirstByte();
    });
    stream.once('trailers', (headers: IncomingHttpHeaders) => {
      trailers = headers;
    });
    stream.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length > largestResponse) reject(new RangeError(`the answer is larger than ${largestResponse} bytes`));
      else pieces.push(piece);
    });
    stream.once('close', () => {
      const httpStatus = head[':status'] ?? 0;
      if (httpStatus === 0) return reject(new ClosedEarly('closed without an answer'));
      // An answer that says nothing but how it ended has it in its head.
      const code = trailers['grpc-status'] ?? head['grpc-status'];
      const message = trailers['grpc-message'] ?? head['grpc-message'] ?? '';
      resolve({ httpStatus, code: numberOf(code), message: String(message), body: Buffer.concat(pieces) });
    });
    stream.end(request);
  });
}

function numberOf(code: string | string[] | undefined): number | null {
  return typeof code === 'string' && /^\d{1,3}$/.test(code) ? Number(code) : null;
}
