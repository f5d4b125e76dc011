import type { ResourceRecord } from './message.ts';
import type { Detail } from './detail.ts';
import { mostRecords } from './record-types.ts';

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
