import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { endpointOf } from '../endpoint.ts';
import type { Protocol, RecordType } from './record-types.ts';

interface AskingLimits {
  readonly timeout: number;
  readonly resolver?: string | undefined;
}

/**
 * Milliseconds that a probe may take: the questions' time, and before it as much to resolve the name server's name if it has one, or
 * after it up to two seconds for the control question.
 */
export function longestMs({ timeout, resolver }: AskingLimits): number {
  if (resolver === undefined) return timeout + controlQueryMs(timeout);
  return isIP(endpointOf(resolver).name) === 0 ? 2 * timeout : timeout;
}

/** How long the control question may take, of a check with this timeout; in milliseconds. */
export function controlQueryMs(timeout: number): number {
  return Math.min(timeout, 2_000);
}

interface AskedSpec {
  readonly host: string;
  readonly record?: RecordType | undefined;
}

/** The record types that a check asks for, one question each. */
export function askedTypes({ host, record }: AskedSpec): readonly RecordType[] {
  if (record !== undefined) return [record];
  return isIP(host) === 0 ? ['A', 'AAAA'] : ['PTR'];
}

/** The name to ask for: that of the reverse zones for an address (RFC 1035, section 3.5; RFC 3596, section 2.5). */
export function askedName(host: string): string {
  if (isIP(host) === 0) return host;
  const address = ipaddr.parse(host);
  const bytes = address.toByteArray();
  if (address.kind() === 'ipv4') return `${bytes.toReversed().join('.')}.in-addr.arpa`;
  const nibbles = bytes.flatMap((byte) => [byte >> 4, byte & 0xf]).toReversed();
  return `${nibbles.map((nibble) => nibble.toString(16)).join('.')}.ip6.arpa`;
}

/** The port of a name server that is asked by this protocol. */
export function portFor(protocol: Protocol): number {
  if (protocol === 'https') return 443;
  return protocol === 'tls' ? 853 : 53;
}
