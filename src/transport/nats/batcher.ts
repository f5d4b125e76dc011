import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { messageLimit, protocolRange } from '#protocol/nodes.ts';
import { joinPassed, joinSpans } from '#protocol/due-span.ts';
import {
  type BatchHead,
  type DueSpan,
  isGranted,
  type PassedChecks,
  resultsBeginning,
  type WireResult,
} from '#protocol/watching.ts';
import type { ReceiptDelivery } from './delivery.ts';

export interface BatcherOptions {
  readonly process: string;
  readonly delivery: Pick<ReceiptDelivery, 'add'>;
  readonly random: Random;
  readonly log: Log;
}

/** Hands results on in batches, as many together as a message holds. */
export interface Batcher {
  /** Of results that are no news, only those that the hub takes. */
  hand(results: readonly WireResult[], isNews: boolean): void;
  /** The hub takes this share of healthy results from now on. */
  granted(share: number): void;
  /** These were passed over: the hub hears so with the next batch. */
  passedOver(checks: PassedChecks): void;
  /** How many results it did not take since the start. */
  readonly skipped: number;
}

// What stands around the results of a batch.
const batchRoom = 2_048;

export function createBatcher({ process, delivery, random, log }: BatcherOptions): Batcher {
  let share = 1;
  let skipped = 0;
  /** What the hub has still to hear of. */
  let unsaid: BatchHead['skipped'] = undefined;
  let passed: BatchHead['passed'] = undefined;

  function skip(results: readonly WireResult[]): void {
    if (results.length === 0) return;
    skipped += results.length;
    const due = spanOf(results);
    unsaid = { results: results.length + (unsaid?.results ?? 0), due: joinSpans(unsaid?.due, due) };
  }

  function post(results: readonly WireResult[], texts: readonly string[], news: boolean): void {
    const due = results.length === 0 ? unsaid?.due : spanOf(results);
    if (due === undefined) return;
    const ticket = random.id(20);
    const head: BatchHead = { kind: 'batch', protocol: [...protocolRange], ticket, process, news, due };
    const more = { results: results.length, skipped: unsaid, passed };
    [unsaid, passed] = [undefined, undefined];
    delivery.add(ticket, withResults({ ...head, ...more }, texts), news);
  }

  return {
    hand(results, isNews) {
      const isSent = ({ dueAt }: WireResult) => isNews || isGranted(dueAt, share);
      skip(results.filter((one) => !isSent(one)));
      let together: WireResult[] = [];
      let texts: string[] = [];
      let bytes = 0;
      for (const one of results.filter(isSent)) {
        const text = JSON.stringify(one);
        const size = Buffer.byteLength(text) + 1;
        if (size > messageLimit - batchRoom) {
          log.warn(
            { target: one.target },
            `an outcome takes more than ${messageLimit} bytes and is not sent to the hub`,
          );
          continue;
        }
        if (bytes + size > messageLimit - batchRoom) {
          post(together, texts, isNews);
          [together, texts, bytes] = [[], [], 0];
        }
        together.push(one);
        texts.push(text);
        bytes += size;
      }
      post(together, texts, isNews);
    },
    granted(next) {
      share = next;
    },
    passedOver: (checks) => void (passed = joinPassed(passed, checks)),
    get skipped() {
      return skipped;
    },
  };
}

// As JSON of the whole would be, but no result is written twice.
function withResults(head: BatchHead, texts: readonly string[]): string {
  return `${JSON.stringify(head).slice(0, -1)},${resultsBeginning}${texts.join(',')}]}`;
}

function spanOf(results: readonly WireResult[]): DueSpan {
  const dues = results.map(({ dueAt }) => dueAt);
  return { from: Math.min(...dues), until: Math.max(...dues) };
}
