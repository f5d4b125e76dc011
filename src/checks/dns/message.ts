import {
  type Answer,
  AUTHENTIC_DATA,
  AUTHORITATIVE_ANSWER,
  decode,
  type DecodedPacket,
  encode,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
} from 'dns-packet';
import { messageOf } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import type { RecordType } from './record-types.ts';
import { frameFault, skipName } from './frame.ts';
import { dataOf, typeOf } from './record-data.ts';

export interface Question {
  readonly name: string;
  readonly type: RecordType;
}

/** A resource record with its data as a zone file writes it, text records without their quotes. */
export interface ResourceRecord {
  readonly type: string;
  readonly data: string;
  readonly ttl: number;
}

/** What a name server's answer to a question says. */
export interface DnsMessage {
  readonly rcode: string;
  readonly truncated: boolean;
  readonly authoritative: boolean;
  /** The AD bit: the server says that it has validated the answer by DNSSEC (RFC 4035, section 3.2.3). */
  readonly authentic: boolean;
  /** The records that answer the question: of its type, and the aliases that lead to them. */
  readonly records: readonly ResourceRecord[];
  /** True for an answer that only names other servers to ask. */
  readonly referral: boolean;
  /** The zone that a referral leads to, and its servers with the addresses that came along. */
  readonly delegation?: Delegation;
}

export interface Delegation {
  readonly zone: string;
  readonly servers: readonly { readonly name: string; readonly addresses: readonly string[] }[];
}

export type ReadMessage =
  | { readonly kind: 'message'; readonly message: DnsMessage }
  | { readonly kind: 'stranger' }
  | { readonly kind: 'malformed'; readonly reason: string };

export interface QueryOptions {
  readonly id: number;
  readonly recursion: boolean;
  readonly edns: boolean;
  /** Whether to ask for the AD bit (RFC 6840, section 5.7). */
  readonly wantsAuthentic?: boolean | undefined;
}

// Fits every path without fragments (DNS flag day 2020).
const udpPayloadSize = 1_232;

/** The bytes of a query in class IN. */
export function encodeQuery(
  { name, type }: Question,
  { id, recursion, edns, wantsAuthentic = false }: QueryOptions,
): Buffer {
  const number = unnamedTypes.get(type);
  const query = encode({
    type: 'query',
    id,
    flags: (recursion ? RECURSION_DESIRED : 0) | (wantsAuthentic ? AUTHENTIC_DATA : 0),
    questions: [{ name, type: type === 'SVCB' || type === 'HTTPS' ? 'NULL' : type, class: 'IN' }],
    additionals: edns
      ? [
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ]
      : [],
  });
  if (number !== undefined) query.writeUInt16BE(number, skipName(query, 12) ?? 12);
  return query;
}

// The types that the encoder does not know (RFC 9460, section 14.1).
const unnamedTypes: ReadonlyMap<RecordType, number> = new Map([
  ['SVCB', 64],
  ['HTTPS', 65],
]);

/**
 * Reads what came back: a `stranger` answers no such question; `malformed` does but cannot be read. Never throws, and
 * strangers cost next to nothing, so that a flood of them does no harm.
 */
export function readMessage(bytes: Buffer, question: Question, id: number): ReadMessage {
  if (!answers(bytes, question, id)) return { kind: 'stranger' };
  const flags = bytes.readUInt16BE(2);
  if ((flags & TRUNCATED_RESPONSE) !== 0) return { kind: 'message', message: cutOff(flags) };
  const fault = frameFault(bytes);
  if (fault !== null) return { kind: 'malformed', reason: fault };
  let packet: DecodedPacket;
  try {
    packet = decode(bytes);
  } catch (error) {
    return { kind: 'malformed', reason: singleLine(messageOf(error)) };
  }
  const rcode = rcodeOf(packet);
  const records = packet.answers ?? [];
  const referral =
    rcode === 'NOERROR' &&
    records.length === 0 &&
    !packet.flag_aa &&
    (packet.authorities ?? []).some((record) => record.type === 'NS');
  const message = {
    rcode,
    truncated: false,
    authoritative: packet.flag_aa,
    authentic: packet.flag_ad,
    records: answering(records, question),
    referral,
    ...(referral && { delegation: delegationOf(packet) }),
  };
  return { kind: 'message', message };
}

function delegationOf({ authorities = [], additionals = [] }: DecodedPacket): Delegation {
  const listed = authorities.flatMap((record) => (record.type === 'NS' ? [record] : []));
  const servers = new Map(listed.map(({ data }) => [canonical(data), [] as string[]]));
  for (const record of additionals) {
    if (record.type === 'A' || record.type === 'AAAA') servers.get(canonical(record.name))?.push(record.data);
  }
  const zone = canonical(listed[0]?.name ?? '');
  return { zone, servers: [...servers].map(([name, addresses]) => ({ name, addresses })) };
}

// The point at which a server cut off a truncated answer is unknown, so nothing behind its header is read.
function cutOff(flags: number): DnsMessage {
  const authoritative = (flags & AUTHORITATIVE_ANSWER) !== 0;
  const rcode = nameOfCode(flags & 0xf);
  return { rcode, truncated: true, authoritative, authentic: false, records: [], referral: false };
}

const rcodeNames: ReadonlyMap<number, string> = new Map([
  [0, 'NOERROR'],
  [1, 'FORMERR'],
  [2, 'SERVFAIL'],
  [3, 'NXDOMAIN'],
  [4, 'NOTIMP'],
  [5, 'REFUSED'],
  [9, 'NOTAUTH'],
  [16, 'BADVERS'],
  [23, 'BADCOOKIE'],
]);

// RFC 6891, section 6.1.3: EDNS carries the upper eight bits.
function rcodeOf(packet: DecodedPacket): string {
  const upper = (packet.additionals ?? []).find((record) => record.type === 'OPT')?.extendedRcode ?? 0;
  return nameOfCode(upper * 16 + ((packet.flags ?? 0) & 0xf));
}

function nameOfCode(code: number): string {
  return rcodeNames.get(code) ?? `RCODE${code}`;
}

// Servers may leave the question out of an answer that says they could not read it.
function answers(bytes: Buffer, question: Question, id: number): boolean {
  if (bytes.length < 12 || bytes.readUInt16BE(0) !== id || (bytes.readUInt8(2) & 0x80) === 0) return false;
  const rcode = bytes.readUInt8(3) & 0xf;
  const count = bytes.readUInt16BE(4);
  if (count === 0) return rcode !== 0 && rcode !== 3;
  const asked = encodeQuery(question, { id, recursion: false, edns: false }).subarray(12);
  return count === 1 && lowercase(asked) === lowercase(bytes.subarray(12, 12 + asked.length));
}

// No length of a label, type or class that is asked for is changed by this.
function lowercase(bytes: Buffer): string {
  return bytes.toString('latin1').toLowerCase();
}

function answering(answers: readonly Answer[], { name, type }: Question): readonly ResourceRecord[] {
  const names = new Set([canonical(name)]);
  const records: ResourceRecord[] = [];
  let left = answers.filter((record) => record.type !== 'OPT' && record.class === 'IN');
  for (let before = -1; before !== left.length;) {
    before = left.length;
    left = left.filter((record) => {
      if (!names.has(canonical(record.name))) return true;
      const recordType = typeOf(record);
      if (recordType !== type && recordType !== 'CNAME') return false;
      if (record.type === 'CNAME') names.add(canonical(record.data));
      records.push({ type: recordType, data: dataOf(record), ttl: ttlOf(record) });
      return false;
    });
  }
  return records;
}

// RFC 2181, section 8: a value with the topmost bit set counts as zero.
function ttlOf(record: Answer): number {
  const ttl = 'ttl' in record ? (record.ttl ?? 0) : 0;
  return ttl >= 2 ** 31 ? 0 : ttl;
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
