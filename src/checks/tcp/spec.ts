import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { formatHostPort, portOf } from '../endpoint.ts';
import { Host } from '../host-schema.ts';
import { AnswerPattern, Payload } from '../payload-schemas.ts';
import { Tls } from '../stream/tls-schemas.ts';
import { ConnectionFamily, refuseBothWithProxy, refuseFamiliesOfAddress } from '../family-schema.ts';
import { HttpProxy } from '../http/proxy.ts';
import { StreamPreset } from '../stream/preset-schema.ts';

const WrittenStep = z
  .strictObject({
    expect: AnswerPattern.optional().describe('What must come, first of all: text, { regex } or { hex }.'),
    send: Payload.optional().describe('What to send then: text with escapes such as \\r\\n, { hex } or { base64 }.'),
    starttls: z.literal(true).optional().describe('Start TLS after that, as `tls` says how.'),
  })
  .refine((step) => Object.keys(step).length > 0, { error: 'a step expects, sends or starts TLS' });

export const Spec = z
  .strictObject({
    type: z.literal('tcp'),
    host: Host((endpoint) => formatHostPort(endpoint.name, portOf(endpoint))).describe(
      'Name or address with a port: "example.com:22", "[2001:db8::1]:22", "ssh://example.com". Default port: by scheme, or 80.',
    ),
    timeout: Duration({ min: '100ms', max: '60s' })
      .default(5_000)
      .describe('For everything together: name, connection, TLS, answer.'),
    family: ConnectionFamily,
    proxy: HttpProxy.optional().describe('A proxy to go through: HTTP, by CONNECT, or SOCKS 5.'),
    tls: z
      .union([z.boolean(), Tls])
      .default(false)
      .describe('Whether to start TLS, and how: at once, or where a step or `starttls` says.'),
    send: Payload.optional().describe(
      'What to send once connected: text with escapes such as \\r\\n, { hex } or { base64 }.',
    ),
    expect: AnswerPattern.optional().describe('What the answer must contain: text, { regex } or { hex }.'),
    steps: z
      .array(WrittenStep)
      .min(1)
      .max(20)
      .optional()
      .describe('A dialogue instead of `send` and `expect`: what to expect and to send, in turn.'),
    preset: StreamPreset.optional().describe(
      'A ready dialogue, which greets, and takes its leave: smtp, imap, pop3, ftp, ldap, postgres or ssh.',
    ),
    starttls: z.literal(true).optional().describe("Whether to start TLS by the preset's own command, not at once."),
  })
  .superRefine((spec, context) => {
    refuseFamiliesOfAddress(spec, context);
    refuseBothWithProxy(spec, context);
    const say = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    const ways = [spec.preset, spec.steps, spec.send ?? spec.expect].filter((way) => way !== undefined);
    if (ways.length > 1)
      say(spec.preset === undefined ? 'steps' : 'preset', 'one of preset, steps, and send with expect');
    if (spec.starttls === true && spec.preset === undefined) {
      say('starttls', 'only a preset has a command for it; in steps write "- starttls: true" where TLS starts');
    }
    if (spec.starttls === true && spec.preset === 'ssh') say('starttls', 'ssh has no such command');
  });
export type Spec = z.output<typeof Spec>;
