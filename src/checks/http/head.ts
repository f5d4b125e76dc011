import { STATUS_CODES } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { singleLine } from '#kernel/text.ts';
import type { DataReceiver } from '../connection.ts';
import type { Detail } from './detail.ts';
import type { HopRequest } from './redirect.ts';

/** The most that the headers of an answer may take; more is `too_large`. */
export const maxHeaderBytes = 16_384;

/** What comes before the body of an answer. */
export interface Head {
  readonly status: number;
  readonly reason: string;
  readonly version: NonNullable<Detail['version']>;
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** The values of a header by its lowercase name, in the order they came; none if it is missing. */
  readonly valuesOf: (name: string) => readonly string[];
  /** The body, or null if there cannot be one. To be asked for once. */
  readonly stream: (() => Readable) | null;
  /** The pieces of the body if it came whole together with the head, as most do; null otherwise. */
  readonly arrived: () => readonly Buffer[] | null;
  /** Once the stream has ended: whether the message ended as well, not only the connection. */
  readonly isWhole: () => boolean;
  /** Once the stream has ended: whether its end was that of the connection, which may come without data and later than all of it. */
  readonly endsWithConnection: () => boolean;
}

/** A request that is sent, with its callbacks. */
export interface RequestEvents {
  readonly request: HopRequest;
  /** Where the answer comes in; absent where it comes by the socket's stream. */
  readonly incoming?: DataReceiver | undefined;
  /** Called before the request is written. */
  readonly onSend: () => void;
  /** Called right after it was written if other work can come between; there is no answer by then. */
  readonly onSent: () => void;
  /** Called as soon as anything comes back; over HTTP/2 again for the final head. */
  readonly onFirstByte: () => void;
  /** Called with every error of the connection, also after the head came. */
  readonly onError: (error: Error) => void;
}

/** Headers beyond `maxHeaderBytes`. */
export class HeadersTooLarge extends Error {
  override readonly name = 'HeadersTooLarge';
}

/** The reason phrase as it was sent, or the registered one if none was. */
export function reasonOf(status: number, sent: string | undefined): string {
  return singleLine(sent ?? '') || standardReason(status);
}

// The registered reason phrase of a status code (RFC 9110, section 15), or an empty text.
function standardReason(status: number): string {
  return STATUS_CODES[status] ?? '';
}
