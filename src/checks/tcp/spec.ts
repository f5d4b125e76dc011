import { z } from 'zod';
import { Duration } from '#kernel/units.ts';
import { formatHostPort, Host, portOf } from '../endpoint.ts';
import { AnswerPattern, Payload } from '../payload.ts';
import { Tls } from '../stream/tls.ts';
import { ConnectionFamily, refuseBothWithProxy, refuseFamiliesOfAddress } from '../families.ts';
import { HttpProxy } from '../http/proxy.ts';
import { dialogueOf, StreamPreset } from '../stream/presets.ts';
import type { Step } from '../stream/step.ts';

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

/** All that is done on the connection, whichever way it was written. */
export function conversationOf(spec: Spec): readonly Step[] {
  const steps = stepsOf(spec);
  const isLater = steps.some((step) => step.do === 'starttls');
  return spec.tls === false || isLater ? steps : [{ do: 'starttls' }, ...steps];
}

/** How TLS is to be started, if it is. */
export function tlsSettingsOf({ tls }: Spec): Tls {
  return typeof tls === 'object' ? tls : { verify: true };
}

function stepsOf(spec: Spec): readonly Step[] {
  if (spec.preset !== undefined) return dialogueOf(spec.preset, spec.starttls === true);
  if (spec.steps === undefined) return [...sending(spec.send), ...stepsFor(spec.expect)];
  return spec.steps.flatMap((step) => [
    ...stepsFor(step.expect),
    ...sending(step.send),
    ...(step.starttls === true ? [{ do: 'starttls' } as const] : []),
  ]);
}

function sending(payload: Payload | undefined): readonly Step[] {
  return payload === undefined ? [] : [{ do: 'send', payload }];
}

function stepsFor(expectation: AnswerPattern | undefined): readonly Step[] {
  return expectation === undefined ? [] : [{ do: 'expect', expectation }];
}
