import { z } from 'zod';
import { singleLine } from '#kernel/text.ts';
import { failed, failure, type Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';
import { answersOf } from './answers.ts';
import { recordTypes } from './record-types.ts';

/** A row as we send it over the API. */
export const shape = z
  .tuple([
    z.object({
      A: z.array(z.string()).describe('IPv4 addresses.'),
      AAAA: z.array(z.string()).describe('IPv6 addresses.'),
      TTL: z.int().min(0).nullable().describe('Seconds that the answer may be kept; null if nothing was found.'),
      PTR: z.array(z.string()).optional().describe('The names of an address, if one was asked for.'),
    }),
  ])
  .describe('The records; empty lists if the name was not resolved.');

/**
 * The row of section 2.7: addresses and their TTL; `PTR` besides if an address was asked for, and the lists of the other
 * record types if a target asked for one of them.
 */
export function toRow({ status, detail }: Outcome<Detail>): unknown {
  if (detail === null) return [{ A: [], AAAA: [], TTL: null }];
  const { A, AAAA, TTL, PTR, records } = detail;
  const others = status === 'up' && A.length === 0 && AAAA.length === 0 && PTR === null ? listsOf(records) : {};
  const found = A.length > 0 || AAAA.length > 0 || PTR?.length || Object.keys(others).length > 0;
  return [{ A, AAAA, TTL: found ? TTL : null, ...(PTR === null ? {} : { PTR }), ...others }];
}

function listsOf(records: Detail['records']): Record<string, string[]> {
  const aliased = records.some(({ type }) => type !== 'CNAME');
  const lists: Record<string, string[]> = {};
  for (const { type, data } of records) {
    if (type !== 'CNAME' || !aliased) (lists[type] ??= []).push(data);
  }
  return lists;
}

const Texts = z.array(z.string()).nullish();
const Row = z.looseObject({
  ...Object.fromEntries(recordTypes.map((type) => [type, Texts])),
  TTL: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .nullish(),
});

/** Empty lists tell of a name that was not found. No row has the time of the query: it comes out as 0. */
export function fromRow(row: unknown): Outcome<Detail> | null {
  const [read] = z.tuple([Row]).safeParse(row).data ?? [];
  if (read === undefined || (!Array.isArray(read['A']) && !Array.isArray(read['AAAA']))) return null;
  const ttl = read.TTL ?? null;
  const records = recordTypes.flatMap((type) => textsOf(read[type]).map((data) => ({ type, data, ttl })));
  const detail = {
    ...answersOf(records, Array.isArray(read['PTR'])),
    rcode: null,
    server: null,
    protocol: null,
    truncated: null,
    authoritative: null,
    problems: [],
  };
  if (records.length === 0) return failed(failure('target', 'name_not_found', 'the name was not resolved'), { detail });
  const facts = detail.TTL === null ? {} : { answer_ttl: detail.TTL };
  return { status: 'up', seconds: 0, address: null, phases: {}, facts, detail };
}

function textsOf(value: unknown): readonly string[] {
  return z
    .array(z.string())
    .catch([])
    .parse(value)
    .map((text) => singleLine(text, 2_000));
}
