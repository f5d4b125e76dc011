import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { type Endpoint, formatHostPort, portOf } from '../endpoint.ts';
import { Host } from '../host-schema.ts';
import { AnswerPattern, PayloadText } from '../payload-schemas.ts';
import { Tls } from '../stream/tls-schemas.ts';
import { isSecure } from './secure.ts';

export const Spec = z.strictObject({
  type: z.literal('websocket'),
  host: Host(recordedForm).describe(
    'URL such as "wss://example.com/feed"; the scheme decides about TLS, ws without one.',
  ),
  timeout: Duration({ min: '100ms', max: '60s' })
    .default(10_000)
    .describe('For everything together: name, connection, TLS, handshake, answer.'),
  family: z.literal([4, 6]).optional().describe('IPv4 or IPv6 only. Default: IPv4 if the name has it, else IPv6.'),
  headers: z
    .record(
      z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/),
      z
        .string()
        .max(8_192)
        .regex(/^[\t\u{20}-\u{7e}]*$/u),
    )
    .default({})
    .describe('Headers of the handshake besides those that it needs, such as authorization or origin.'),
  protocol: z
    .string()
    .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/)
    .optional()
    .describe('The subprotocol that is asked for, and that the server must choose.'),
  send: PayloadText.optional().describe('The text of a message to send once connected.'),
  expect: AnswerPattern.optional().describe(
    'What a message of the server must contain: text, { regex } or { hex }. Default: no message is waited for.',
  ),
  tls: Tls.prefault({}).describe('Certificates and names for wss.'),
});
export type Spec = z.output<typeof Spec>;

function recordedForm(endpoint: Endpoint): string {
  const { name, path } = endpoint;
  return `${isSecure(endpoint) ? 'wss' : 'ws'}://${formatHostPort(name, portOf(endpoint))}${path ?? ''}`;
}
