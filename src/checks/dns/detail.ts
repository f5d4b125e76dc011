import { z } from 'zod';
import { Certificate } from '../certificate.ts';
import type { ResourceRecord } from './message.ts';
import { Protocol } from './spec.ts';

const mostRecords = 100;

const Texts = z.array(z.string().max(2_000)).max(mostRecords);
const Ttl = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
  .nullable();

/**
 * What name servers answered: the only place of an outcome that holds a target's records. What a row did not tell is null.
 */
export const Detail = z.strictObject({
  A: Texts,
  AAAA: Texts,
  /** Names of an address; null if none was asked for. */
  PTR: Texts.nullable(),
  /** Seconds that the answer may be kept: the smallest of its records. */
  TTL: Ttl,
  /** Every record that answers, aliases included, with data as a zone file writes it. */
  records: z
    .array(z.strictObject({ type: z.string().max(20), data: z.string().max(2_000), ttl: Ttl }))
    .max(mostRecords),
  rcode: z.string().max(20).nullable(),
  server: z.string().max(80).nullable(),
  protocol: Protocol.nullable(),
  /** What the name server presented, if it was asked over an encrypted connection. */
  tls: z.strictObject({ protocol: z.string().max(20), certificate: Certificate.nullable() }).optional(),
  /** Whether the answer was too long for a datagram and came over TCP. */
  truncated: z.boolean().nullable(),
  authoritative: z.boolean().nullable(),
  /** Whether the name server states that it has validated all answers by DNSSEC; only if that was expected. */
  authentic: z.boolean().optional(),
  /** Questions of this check that went wrong beside others that were answered. */
  problems: z.array(z.string().max(200)).max(2),
});
export type Detail = z.output<typeof Detail>;

type RecordText = Pick<ResourceRecord, 'type' | 'data'> & { readonly ttl: number | null };
type Answers = Pick<Detail, 'A' | 'AAAA' | 'PTR' | 'TTL' | 'records'>;

/** The part of a detail that is made of records. */
export function answersOf(records: readonly RecordText[], reverse: boolean): Answers {
  const kept = distinct(records).slice(0, mostRecords);
  const ttls = kept.flatMap(({ ttl }) => (ttl === null ? [] : [ttl]));
  return {
    A: dataOf(kept, 'A'),
    AAAA: dataOf(kept, 'AAAA'),
    PTR: reverse ? dataOf(kept, 'PTR') : null,
    TTL: ttls.length === 0 ? null : Math.min(...ttls),
    records: kept.map(({ type, data, ttl }) => ({ type, data, ttl })),
  };
}

function dataOf(records: readonly RecordText[], type: string): string[] {
  return records.filter((record) => record.type === type).map(({ data }) => data);
}

// The aliases of a name come with the answer to each question about it.
function distinct(records: readonly RecordText[]): readonly RecordText[] {
  const seen = new Set<string>();
  return records.filter(({ type, data }) => {
    const key = `${type} ${data}`;
    return seen.has(key) ? false : seen.add(key);
  });
}
