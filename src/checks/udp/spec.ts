import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { formatHostPort, portOf } from '../endpoint.ts';
import { Host } from '../host-schema.ts';
import { AnswerPattern, Payload, PayloadText } from '../payload-schemas.ts';
import { payloadBytes, udpPresets } from './payload.ts';

export const UdpPreset = z.enum(udpPresets);

const Sendable = z.union([
  UdpPreset,
  Payload,
  z.strictObject({ text: PayloadText.describe('Text with escapes, even if it equals the name of a preset.') }),
]);

const longestPayload = 1_232;

/** A preset or the bytes to send, which fit into one datagram on every path; `{ text: ntp }` is text, `ntp` the preset. */
const Send = Sendable.refine((send) => payloadBytes(send).length <= longestPayload, {
  error: `is longer than ${longestPayload} bytes`,
});

export const Spec = z
  .strictObject({
    type: z.literal('udp'),
    host: Host((endpoint) => formatHostPort(endpoint.name, portOf(endpoint))).describe(
      'Name or address with its port: "time.example.com:123", "ntp://time.example.com". Default port: by scheme, or 80.',
    ),
    timeout: Duration({ min: '100ms', max: '60s' }).default(3_000).describe('How long to wait for a reply.'),
    tries: z
      .int()
      .min(1)
      .max(3)
      .default(3)
      .describe('How many datagrams are sent while no reply comes, spread evenly over the timeout.'),
    send: Send.optional().describe(
      'What to send: text with escapes, { hex }, { base64 }, or the preset dns, ntp or stun. Default: by the port, else two line ends.',
    ),
    expect: AnswerPattern.optional().describe(
      'What the reply must contain within its first 512 bytes: text, { hex } or { regex }. Default: anything.',
    ),
    silence: z
      .enum(['up', 'down', 'unknown'])
      .optional()
      .describe('What it means when no reply comes. Default: down with a preset or "expect", otherwise unknown.'),
    offset_below: Duration({ min: '1ms', max: '1d' })
      .optional()
      .describe("With the preset ntp: how far the server's clock may be from the node's. Default: any distance."),
  })
  .superRefine(({ send, offset_below }, context) => {
    if (offset_below === undefined || send === 'ntp') return;
    context.addIssue({ code: 'custom', path: ['offset_below'], message: 'needs send: ntp' });
  }, always);
export type Spec = z.output<typeof Spec>;
