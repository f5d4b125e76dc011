import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { singleLine } from '#kernel/text.ts';
import { type Failure, failure } from '../outcome.ts';
import type { DnsExpectation } from './spec.ts';
import { recordTypes, type RecordType } from './record-types.ts';

interface ComparableRecord {
  readonly type: string;
  readonly data: string;
}

/** Where the records differ from what was expected: the first record type that does, or null. */
export function mismatch(expect: DnsExpectation, records: readonly ComparableRecord[]): Failure | null {
  for (const type of recordTypes) {
    const expected = expect[type];
    const actual = records.filter((record) => record.type === type).map(({ data }) => data);
    const unwanted = expect.not?.[type]?.map((data) => comparable(type, data)) ?? [];
    const found = actual.find((data) => unwanted.includes(comparable(type, data)));
    if (found !== undefined) return failure('target', 'answer', `${type} has ${found}, which is not expected`);
    if (expected === undefined) continue;
    if (matches(type, expect.match, expected, actual)) continue;
    const actualText = actual.length === 0 ? `there is no ${type} record` : `${type} is ${actual.join(', ')}`;
    return failure('target', 'answer', `${actualText}; expected ${inWords(expect.match, expected)}`);
  }
  return null;
}

function matches(
  type: RecordType,
  match: DnsExpectation['match'],
  expected: readonly string[],
  actual: readonly string[],
): boolean {
  const wanted = new Set(expected.map((data) => comparable(type, data)));
  const found = new Set(actual.map((data) => comparable(type, data)));
  const present = [...wanted].filter((data) => found.has(data)).length;
  switch (match) {
    case 'exact':
      return present === wanted.size && present === found.size;
    case 'contains':
      return present === wanted.size;
    case 'any':
      return present > 0;
  }
}

// `0 issue "ca.example"`, as zone files write it (RFC 8659, section 4.1.1), is the same without its quotes. Tags have no case.
function comparableCaa(data: string): string {
  const [, flags, tag = '', quoted, bare] = /^(\d+) (\S+) (?:"(.*)"|(.*))$/.exec(data) ?? [];
  return flags === undefined ? data : `${flags} ${tag.toLowerCase()} ${quoted?.replaceAll('\\"', '"') ?? bare ?? ''}`;
}

// Digests and keys may be written in several pieces (RFC 4034, sections 2.2 and 5.3; RFC 6698, section 2.2).
function comparableKey(type: RecordType, data: string): string {
  const [one = '', two = '', three = '', ...pieces] = data.split(' ');
  const key = pieces.join('');
  return [one, two, three, type === 'DNSKEY' ? key : key.toLowerCase()].join(' ');
}

// Parameters stand in any order, with or without quotes (RFC 9460, section 2.1).
function comparableBinding(data: string): string {
  const [priority = '', target = '', ...parameters] = data.replaceAll('"', '').split(' ');
  return [priority, withoutDot(target.toLowerCase()), ...parameters.toSorted()].join(' ');
}

function withoutDot(name: string): string {
  return name.replace(/(?<=.)\.$/, '');
}

// Names compare without regard to case and the final dot (RFC 4343); text as it is.
function comparable(type: RecordType, data: string): string {
  if (type === 'TXT') return singleLine(data, 2_000);
  if (type === 'CAA') return comparableCaa(singleLine(data, 2_000));
  if (type === 'DS' || type === 'DNSKEY' || type === 'TLSA') return comparableKey(type, singleLine(data, 2_000));
  if (type === 'SVCB' || type === 'HTTPS') return comparableBinding(singleLine(data, 2_000));
  if (type === 'NAPTR') return withoutDot(singleLine(data, 2_000));
  if (isIP(data) !== 0) return ipaddr.parse(data).toString();
  const words = singleLine(data, 2_000).toLowerCase().split(' ');
  return words.map(withoutDot).join(' ');
}

function inWords(match: DnsExpectation['match'], expected: readonly string[]): string {
  if (expected.length === 0) return 'none';
  const values = expected.join(', ');
  return match === 'any' ? `one of ${values}` : values;
}
