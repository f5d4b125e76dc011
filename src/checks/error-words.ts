import { singleLine } from '#kernel/text.ts';
import type { Dialect } from './check.ts';
import type { Failure, FailureCode, FailureSource } from './outcome.ts';

/** The source and code of the failure behind an error text. */
export interface ErrorMeaning {
  readonly source: FailureSource;
  readonly code: FailureCode;
}

const target = (code: FailureCode): ErrorMeaning => ({ source: 'target', code });

// A row has words only. These are ours and those of the system's error list; what none of them fits is the target's.
const meanings: readonly (readonly [RegExp, ErrorMeaning])[] = [
  [/valid HTTP|HTTP\/2|^the body (?:is not valid|has the unknown)/, target('protocol')],
  [/headers of the answer are larger/, target('too_large')],
  [/^timeout after /, target('timeout')],
  [/^TLS (?:handshake )?failed/, target('tls')],
  [/^the answer |^the first \d+ bytes /, target('answer')],
  [/^the resolver of this node/i, { source: 'resolver', code: 'name_server' }],
  [/^this node could not|^this node has no route|^the node could not/i, { source: 'node', code: 'local' }],
  [/ is refused: |is this node itself|did not end at the address/i, { source: 'node', code: 'forbidden' }],
  [/name servers of .* do not answer/i, target('name_timeout')],
  [/name servers of /i, target('name_server')],
  [/has no (?:ipv\d )?address|no address associated/i, target('name_without_address')],
  [/name .*does not exist|not known|not found|nxdomain|resolve|no such device or address/i, target('name_not_found')],
  [/certificate is not for|altname/i, target('certificate_name')],
  [/certificate.* expired/i, target('certificate_expired')],
  [/certificate/i, target('certificate_untrusted')],
  [/TLS handshake within/i, target('timeout')],
  [/\bTLS\b|\bSSL\b/i, target('tls')],
  [/refused/i, target('refused')],
  [/timed out|time-?out|within/i, target('timeout')],
  [/unreachable|no route/i, target('unreachable')],
  [/reset|broken pipe/i, target('reset')],
  [/closed/i, target('closed')],
];

/** What the error text of a row means. */
export function meaningOf(error: string): ErrorMeaning {
  // The sender of the row chose its length; ours are no longer than this.
  const text = singleLine(error);
  return meanings.find(([words]) => words.test(text))?.[1] ?? target('unreachable');
}

// Clients of the public service look for these words: they are those of the system's error list.
const publicWords: Readonly<Partial<Record<FailureCode, string>>> = {
  timeout: 'Connection timed out',
  refused: 'Connection refused',
  reset: 'Connection reset by peer',
  unreachable: 'No route to host',
  name_not_found: 'No such device or address',
  name_without_address: 'No such device or address',
  name_server: 'No such device or address',
  name_timeout: 'No such device or address',
};

/** The words of a failure in a row: ours, or where there are any those of the public service. */
export function wordsOf({ code, message }: Failure, dialect: Dialect): string {
  return dialect === 'interface' ? message : (publicWords[code] ?? message);
}
