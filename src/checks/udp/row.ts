import { z } from 'zod';
import { singleLine } from '#kernel/text.ts';
import type { Dialect } from '../check.ts';
import { wordsOf } from '../error-words.ts';
import { failed, failure, type Failure, type FailureCode, type FailureSource, type Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** A row as we send it. */
export const shape = z
  .tuple([
    z.union([
      z.object({ address: z.string().max(64), time: z.number().min(0).describe('Seconds.'), timeout: z.literal(0) }),
      z.object({ address: z.string().max(64), timeout: z.literal(1) }),
      z.object({ error: z.string().max(200).describe('What went wrong.'), address: z.string().max(64).optional() }),
    ]),
  ])
  .describe('An answer; silence, so open or filtered; or why it failed.');

/** Answered, silent (open or filtered), or failed; see `fromRow` for the shapes. */
export function toRow(outcome: Outcome<Detail>, dialect: Dialect = 'interface'): unknown {
  const { address } = outcome;
  if (outcome.status === 'up') {
    return [outcome.detail.replied ? { address, time: outcome.seconds, timeout: 0 } : { address, timeout: 1 }];
  }
  if (outcome.failure.code === 'silent') return [{ address, timeout: 1 }];
  const error = wordsOf(outcome.failure, dialect);
  return [address === null ? { error } : { error, address }];
}

const Seconds = z.number().min(0).max(1e6);
const Row = z.looseObject({
  address: z.string().min(1).max(64).nullish(),
  time: Seconds.nullish(),
  timeout: z.union([z.literal(0), z.literal(1), z.boolean()]).nullish(),
  error: z.string().min(1).nullish(),
});

/** Reads `{address, time, timeout: 0}`, `{address, timeout: 1}`, `{error, address}` and `{error}`, also with a time beside. */
export function fromRow(row: unknown): Outcome<Detail> | null {
  const [read] = z.tuple([Row]).safeParse(row).data ?? [];
  if (read === undefined) return null;
  const { error } = read;
  const address = read.address ?? null;
  const known = {
    address,
    phases: {},
    facts: {},
    detail: { replied: false, sent: null, bytes: null, reply: null, note: null },
  };
  if (typeof error === 'string') return failed(failureIn(error, address), known);
  if (address === null) return null;
  if (Number(read.timeout ?? 0) === 1) {
    const reason = failure('target', 'silent', 'no reply: open, or filtered');
    return { ...known, status: 'unknown', seconds: null, failure: reason };
  }
  if (typeof read.time !== 'number') return null;
  return { ...known, status: 'up', seconds: read.time, detail: { ...known.detail, replied: true } };
}

// A row has no codes. An error text that says nothing of the target is the node's own fault.
function failureIn(error: string, address: string | null): Failure {
  // The sender of the row chose its length; ours are no longer than this.
  const text = singleLine(error);
  const known = meanings.find(([words]) => words.test(text));
  if (known !== undefined) return failure(known[1], known[2], error);
  return address === null ? failure('target', 'name_not_found', error) : failure('node', 'local', error);
}

const meanings: ReadonlyArray<readonly [RegExp, FailureSource, FailureCode]> = [
  [/^the resolver of this node/i, 'resolver', 'name_server'],
  [/^this node |is this node itself/i, 'node', 'local'],
  [/ is refused: /i, 'node', 'forbidden'],
  [/name servers of .* do not answer/i, 'target', 'name_timeout'],
  [/name servers of /i, 'target', 'name_server'],
  [/has no (?:ipv\d )?address/i, 'target', 'name_without_address'],
  [/refused/i, 'target', 'refused'],
  [/unreachable|no route/i, 'target', 'unreachable'],
  [/^the reply is no proper/i, 'target', 'protocol'],
  [/^the reply does not/i, 'target', 'body'],
];
