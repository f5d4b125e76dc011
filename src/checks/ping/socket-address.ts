import ipaddr from 'ipaddr.js';
import type { AddressFamily } from '../address.ts';
import { linux } from './libc.ts';

/** A `struct sockaddr_in` or `sockaddr_in6` for an address, with port 0. */
export function encodeSocketAddress(address: string, family: AddressFamily): Uint8Array {
  const bytes = ipaddr.parse(address).toByteArray();
  if (bytes.length !== (family === 4 ? 4 : 16)) throw new RangeError(`${address} is no IPv${family} address`);
  const encoded = new Uint8Array(new ArrayBuffer(family === 4 ? 16 : 28));
  encoded[0] = family === 4 ? linux.AF_INET : linux.AF_INET6;
  encoded.set(bytes, addressAt(family));
  return encoded;
}

/** The address in a `struct sockaddr_in` or `sockaddr_in6`, or null if it is none. */
export function decodeSocketAddress(encoded: Uint8Array): string | null {
  const family = encoded[0] === linux.AF_INET ? 4 : 6;
  if (family === 6 && encoded[0] !== linux.AF_INET6) return null;
  const start = addressAt(family);
  const end = start + (family === 4 ? 4 : 16);
  if (encoded.length < end) return null;
  return ipaddr.fromByteArray([...encoded.subarray(start, end)]).toString();
}

/** True if both socket addresses name the same host. */
export function sameHost(one: Uint8Array, other: Uint8Array, family: AddressFamily): boolean {
  const start = addressAt(family);
  for (let at = start; at < start + (family === 4 ? 4 : 16); at += 1) if (one[at] !== other[at]) return false;
  return true;
}

function addressAt(family: AddressFamily): number {
  return family === 4 ? 4 : 8;
}
