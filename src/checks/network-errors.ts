import { messageOf, systemCode } from '#kernel/errors.ts';
import { type Failure, failure } from './outcome.ts';

/** What this machine itself lacks or forbids. Whatever else ends an open connection is the other side's doing. */
const ownTrouble: ReadonlySet<string> = new Set([
  'EACCES',
  'EADDRNOTAVAIL',
  'EBADF',
  'EMFILE',
  'ENETDOWN',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EPERM',
]);

/** What an error of an open connection means. `during` says what was waited for, as in `while waiting for the body`. */
export function streamFailure(error: unknown, during = ''): Failure {
  const code = systemCode(error) ?? '';
  const when = during === '' ? '' : ` ${during}`;
  if (ownTrouble.has(code)) return failure('node', 'local', `the node could not go on: ${messageOf(error)}`);
  switch (code) {
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ECONNABORTED':
      return failure('target', 'reset', during === '' ? 'connection reset by the target' : `connection reset${when}`);
    case 'ETIMEDOUT':
      return failure('target', 'timeout', `connection timed out${when}`);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EHOSTDOWN':
    case 'ENONET':
      return failure('target', 'unreachable', `host or network unreachable${when}`);
    default:
      if (code.startsWith('ERR_SSL_') || code === 'EPROTO') {
        return failure('target', 'tls', `TLS failed${when}: ${tlsReasonOf(error)}`);
      }
      return failure('target', 'protocol', `the connection failed${when}: ${messageOf(error)}`);
  }
}

/** What OpenSSL calls an error: `certificate required`. */
export function tlsReasonOf(error: unknown): string {
  if (error instanceof Error && 'reason' in error && typeof error.reason === 'string') return error.reason;
  return /:SSL routines:[^:]*:([^:]+):/.exec(messageOf(error))?.[1] ?? messageOf(error);
}

/** What it means that a connection was not made: the target's fault, or ours if we have no means. `judgeOwnFault` asks for the way. */
export function connectFailure(error: unknown): Failure {
  switch (systemCode(error)) {
    case 'ECONNREFUSED':
      return refused();
    case 'ETIMEDOUT':
      return failure('target', 'timeout', 'connection timed out');
    case 'ECONNRESET':
      return failure('target', 'reset', 'connection reset by the target');
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
      return failure('target', 'unreachable', 'host or network unreachable');
    default:
      return failure('node', 'local', `this node could not connect: ${messageOf(error)}`);
  }
}

/** The failure of a port that is closed. */
export function refused(): Failure {
  return failure('target', 'refused', 'connection refused');
}
