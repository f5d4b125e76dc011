import { messageOf, systemCode } from '#kernel/errors.ts';
import { streamFailure } from '../network-errors.ts';
import { type Failure, failure } from '../outcome.ts';
import { EndedEarly } from './body.ts';
import { HeadersTooLarge, maxHeaderBytes } from './head.ts';

/** What it means that an open connection failed while a request was sent or its answer was awaited. */
export function exchangeFailure(error: unknown, waitingFor: string): Failure {
  if (error instanceof HeadersTooLarge) return headersTooLarge();
  const code = systemCode(error) ?? '';
  const during = `while waiting for ${waitingFor}`;
  if (error instanceof EndedEarly || isHangUp(error, code)) return closed(during);
  if (code.startsWith('HPE_')) return parserFailure(error, code, during);
  if (code.startsWith('ERR_HTTP2_')) return http2Failure(error, code, during);
  return streamFailure(error, during);
}

// What Node calls ECONNRESET without a system call behind it is a connection that ended in good order, but too early.
function isHangUp(error: unknown, code: string): boolean {
  return code === 'ECONNRESET' && error instanceof Error && !('syscall' in error);
}

function parserFailure(error: unknown, code: string, during: string): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge();
  if (code === 'HPE_INVALID_EOF_STATE') return closed(during);
  const reason = messageOf(error).replace(/^Parse Error: /, '');
  return failure('target', 'protocol', `the answer is not valid HTTP: ${reason}`);
}

function http2Failure(error: unknown, code: string, during: string): Failure {
  const message = messageOf(error);
  if (/ENHANCE_YOUR_CALM/.test(message)) return headersTooLarge();
  if (code === 'ERR_HTTP2_STREAM_CANCEL' || /NGHTTP2_(?:CANCEL|NO_ERROR)/.test(message)) return closed(during);
  return failure('target', 'protocol', `HTTP/2 failed ${during}: ${message}`);
}

function closed(during: string): Failure {
  return failure('target', 'closed', `connection closed ${during}`);
}

function headersTooLarge(): Failure {
  return failure('target', 'too_large', `the headers of the answer are larger than ${maxHeaderBytes} bytes`);
}
