import { singleLine } from '#kernel/text.ts';
import { describeDuration, formatSeconds } from '#kernel/units.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** How many datagrams went out, and what came back. */
export function lines({ detail, facts }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { sent, bytes, reply, note } = detail;
  const { clock_offset: offset } = facts;
  return [
    ...(sent === null ? [] : [`sent         ${sent} ${sent === 1 ? 'datagram' : 'datagrams'}`]),
    ...(bytes === null ? [] : [`reply        ${bytes} bytes${note === null ? '' : `: ${note}`}`]),
    ...(reply === null || note !== null ? [] : [`             ${printable(Buffer.from(reply, 'base64'))}`]),
    ...(offset === undefined ? [] : [`clock        ${offsetText(offset)} the node's`]),
  ];
}

/** An offset in words: `12 ms ahead of`. */
export function offsetText(seconds: number): string {
  const distance = Math.abs(seconds);
  const text = distance < 60 ? formatSeconds(distance) : describeDuration(distance * 1e3);
  return `${text} ${seconds < 0 ? 'behind' : 'ahead of'}`;
}

// Text is shown as text, anything else as its first bytes.
function printable(reply: Buffer): string {
  const text = reply.toString('utf8');
  if (/^[\s\u{20}-\u{7e}\u{a0}-\u{d7ff}]+$/u.test(text)) return JSON.stringify(singleLine(text, 70));
  return `${reply.toString('hex', 0, 24)}${reply.length > 24 ? '…' : ''}`;
}
