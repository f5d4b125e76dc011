import { readJson } from '#kernel/json.ts';
import { BatchHead, type DueSpan, resultsBeginning } from '#protocol/watching.ts';

/** What is known of a batch before its results are parsed. */
export interface BatchSummary extends Pick<BatchHead, 'protocol' | 'ticket' | 'process' | 'skipped' | 'passed'> {
  readonly isNews: boolean;
  readonly due: DueSpan;
  readonly results: number;
}

const longestHead = 2_048;
// Results stand in the order in which their checks ended.
const longestCheckMs = 15_000;

/** Reads a batch as far as its results; null if it is none. `now`, in milliseconds since the epoch, is when it came. */
export function readBatchHead(data: Buffer, now: number): BatchSummary | null {
  const end = data.subarray(0, longestHead).indexOf(resultsBeginning);
  const head = end < 0 ? null : readJson(BatchHead, `${data.toString('utf8', 0, end)}${resultsBeginning}]}`);
  if (head === null) return null;
  const { protocol, ticket, process, skipped, passed, news, due, results } = head;
  return {
    protocol,
    ticket,
    process,
    skipped,
    passed,
    isNews: news ?? isAnyNotUp(data),
    due: due ?? spanOf(data, now),
    results: results ?? countOf(data, '"dueAt":'),
  };
}

// In a text from a target quotes are escaped.
function isAnyNotUp(data: Buffer): boolean {
  return data.includes('"status":"down"') || data.includes('"status":"unknown"');
}

function spanOf(data: Buffer, now: number): DueSpan {
  const key = '"dueAt":';
  const dueAt = (at: number) => Number.parseInt(data.toString('latin1', at + key.length, at + key.length + 16), 10);
  const dues = [data.indexOf(key), data.lastIndexOf(key)].flatMap((at) => (at < 0 ? [] : dueAt(at)));
  if (dues.length === 0 || dues.some(Number.isNaN)) return { from: now, until: now };
  return { from: Math.min(...dues) - longestCheckMs, until: Math.max(...dues) };
}

function countOf(data: Buffer, text: string): number {
  let count = 0;
  for (let at = data.indexOf(text); at >= 0; at = data.indexOf(text, at + text.length)) count += 1;
  return count;
}
