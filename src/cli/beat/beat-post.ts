import { type IncomingMessage, request as requestPlain } from 'node:http';
import { finished } from 'node:stream';
import { messageOf, systemCode } from '#kernel/errors.ts';
import { userAgent } from '#kernel/version.ts';

// Not got, whose 15 MB would be in memory for as long as the command of a job runs.

const redirects: readonly number[] = [301, 302, 303, 307, 308];
const mostRedirects = 10;
const resets: readonly (string | null)[] = ['ECONNRESET', 'EPIPE'];
const aborted = 'The server aborted pending request';

/**
 * Sends a text by POST, follows redirects as RFC 9110 has it, and resolves with the final response once its body, which is dropped, was
 * read to its end. Rejects if the exchange fails or the signal is aborted.
 */
export async function postBeat(address: string, body: string, signal: AbortSignal): Promise<IncomingMessage> {
  let url = new URL(address);
  // What a GET after a redirect does not have.
  let sent: string | null = body;
  for (let followed = 0; ; followed += 1) {
    const response = await exchange(url, sent, signal);
    const location = redirectIn(response);
    if (location === null) return response;
    if (followed === mostRedirects) throw new Error(`Redirected ${mostRedirects} times. Aborting.`);
    const next = redirected(url, location);
    const isSameOrigin = next.origin === url.origin;
    // Another origin gets a body only if the status says so.
    if (response.statusCode === 303 || (!isSameOrigin && [301, 302].includes(response.statusCode ?? 0))) sent = null;
    next.username = isSameOrigin ? url.username : '';
    next.password = isSameOrigin ? url.password : '';
    url = next;
  }
}

function redirectIn({ statusCode = 0, headers: { location = '' } }: IncomingMessage): string | null {
  return redirects.includes(statusCode) && location !== '' ? location : null;
}

function redirected(url: URL, location: string): URL {
  // Node reads headers as Latin-1, servers write them in UTF-8.
  const next = new URL(Buffer.from(location, 'latin1').toString(), url);
  if (!['http:', 'https:'].includes(next.protocol)) throw new Error(`Unsupported protocol: ${next.protocol}`);
  return next;
}

async function exchange(url: URL, body: string | null, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? (await import('node:https')).request : requestPlain;
  const { method, headers } =
    body === null
      ? { method: 'GET', headers: {} }
      : { method: 'POST', headers: { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(body) } };
  return new Promise((resolve, reject) => {
    let hasResponse = false;
    // A variable of the environment that turns certificate checks off for all of Node does not count.
    request(url, { method, headers: { 'user-agent': userAgent, ...headers }, rejectUnauthorized: true, signal })
      .on('response', (response) => {
        hasResponse = true;
        let received = 0;
        response.on('data', (bytes: Buffer) => (received += bytes.length));
        finished(response, (error) => {
          if (error) reject(new Error(cutOff(response, received), { cause: error }));
          else resolve(response);
        });
        // Its body may never end.
        if (redirectIn(response) !== null) resolve(response);
      })
      .on('error', (error) => {
        // The server may reset the connection behind its response, whose end decides then.
        if (!hasResponse || !resets.includes(systemCode(error))) reject(new Error(reasonOf(error), { cause: error }));
      })
      // Also without an error: if the response changes the protocol.
      .on('close', () => {
        if (!hasResponse) reject(new Error(aborted));
      })
      .end(body ?? '');
  });
}

// One for each address of a name has no message of its own.
function reasonOf(error: Error): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : messageOf(error);
}

function cutOff({ headers }: IncomingMessage, received: number): string {
  const length = headers['content-length'];
  return length === undefined
    ? aborted
    : `Content-Length mismatch: expected ${length} bytes, received ${received} bytes`;
}
