import { isIP, type Socket } from 'node:net';
import { orAbort } from '#kernel/clock.ts';
import type { ProbeEnvironment } from '../check.ts';
import { parseEndpoint } from '../endpoint.ts';
import { streamFailure } from '../network-errors.ts';
import { type Failure, failure, thirdPartyFailure, toSeconds } from '../outcome.ts';
import type { Network } from '../reach.ts';
import { readWhois, referralIn, type WhoisAnswer } from './whois-answer.ts';

const whoisPort = 43;
const largestAnswer = 262_144;

interface WhoisMeasurements {
  readonly address: string;
  readonly phases: { readonly resolve?: number; readonly connect: number; readonly transfer: number };
  readonly seconds: number;
}

type WhoisReply =
  | ({ readonly ok: true; readonly text: string } & WhoisMeasurements)
  | { readonly ok: false; readonly failure: Failure };

/** What WHOIS says of a domain: `server` is the one that answered. */
export type WhoisResult =
  | ({ readonly ok: true; readonly server: string; readonly answer: WhoisAnswer } & WhoisMeasurements)
  | { readonly ok: false; readonly failure: Failure };

/**
 * Asks a server, and the one that it refers to, about a domain (WHOIS, RFC 3912). Null if the first knows no other one and says nothing
 * about the domain: that of IANA, of a top-level domain without WHOIS.
 */
export async function askWhois(
  first: string,
  domain: string,
  network: Network,
  environment: ProbeEnvironment,
): Promise<WhoisResult | null> {
  const reply = await query(first, domain, network, environment);
  if (!reply.ok) return reply;
  const referral = referralIn(reply.text);
  if (referral === null) {
    const answer = readWhois(reply.text, domain);
    return answer === null ? null : { ...reply, server: first, answer };
  }
  const referred = await query(referral, domain, network, environment);
  if (!referred.ok) return referred;
  const answer = readWhois(referred.text, domain);
  if (answer !== null) return { ...referred, server: referral, answer };
  const message = `the answer of the WHOIS server ${referral} about ${domain} cannot be read`;
  return { ok: false, failure: failure('third_party', 'protocol', message) };
}

async function query(
  server: string,
  domain: string,
  network: Network,
  { clock }: ProbeEnvironment,
): Promise<WhoisReply> {
  const whose = `the WHOIS server ${server}`;
  const fail = (reason: Failure): WhoisReply => ({ ok: false, failure: thirdPartyFailure(whose, reason) });
  const endpoint = parseEndpoint(server);
  if (!endpoint.ok) return fail(failure('target', 'protocol', `the host ${endpoint.message}`));
  const pinned = await network.pin(endpoint.name);
  if (!pinned.ok) return fail(pinned.failure);
  return network.connect(
    pinned,
    endpoint.port ?? whoisPort,
    async (connection) => {
      if (!connection.ok) return fail(connection.failure);
      const start = clock.elapsed();
      try {
        const text = await orAbort(exchange(connection.socket, requestFor(endpoint.name, domain)), network.signal);
        const transfer = toSeconds(clock.elapsed() - start);
        const resolve = isIP(endpoint.name) === 0 ? { resolve: pinned.seconds } : {};
        const phases = { ...resolve, connect: connection.seconds, transfer };
        return { ok: true, text, address: pinned.address, phases, seconds: connection.seconds + transfer };
      } catch (error) {
        network.signal.throwIfAborted();
        return fail(streamFailure(error, 'while waiting for the answer'));
      }
    },
    { mostBytes: largestAnswer },
  );
}

// The registry of .jp answers in Japanese unless it is asked for English.
const requestFor = (server: string, domain: string) => (server === 'whois.jprs.jp' ? `${domain}/e` : domain);

// The answer ends with the connection (RFC 3912, section 2). What is longer than any is cut off.
async function exchange(socket: Socket, request: string): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const finish = () => resolve(Buffer.concat(pieces).toString('utf8').slice(0, largestAnswer));
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= largestAnswer) finish();
  });
  socket.once('end', finish);
  socket.once('error', reject);
  socket.once('close', finish);
  socket.write(`${request}\r\n`);
  return promise;
}
