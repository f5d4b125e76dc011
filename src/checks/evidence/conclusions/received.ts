import { countOf } from '#kernel/text.ts';
import type { ReceivedEvidence } from '../detail.ts';
import {
  conclusion,
  type EvidenceView,
  largestGroup,
  type NodeEvidence,
  type ConclusionRule,
  seenFrom,
} from './view.ts';

interface ReceivedText {
  readonly rule: string;
  readonly text: string;
}

function textOf({ document: { received: evidence } }: NodeEvidence): ReceivedText | null {
  if (evidence === null || evidence.failure === null || evidence.protocol === 'udp') return null;
  const { bytes, closed, isSilent }: ReceivedEvidence = evidence;
  if (closed && bytes === 0) {
    return { rule: 'closed-empty', text: 'The server accepts the connection and closes it without sending a byte' };
  }
  if (closed || isSilent !== true) return null;
  return bytes === 0
    ? { rule: 'received-nothing', text: 'The server accepts the connection and sends nothing' }
    : { rule: 'received-then-silence', text: `The server sends ${countOf(bytes, 'byte')} and then nothing more` };
}

function received(view: EvidenceView) {
  const group = largestGroup(view.failing, (one) => textOf(one)?.text ?? null);
  const found = group[0] === undefined ? null : textOf(group[0]);
  return found === null ? [] : conclusion('received', found.rule, `${found.text}${seenFrom(group, view)}`);
}

export const receivedRules: readonly ConclusionRule[] = [received];
