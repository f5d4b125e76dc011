import { z } from 'zod';
import { always, refuseBoth } from '#kernel/refine.ts';
import { ServerHost, serverOptions } from '../database/options.ts';
import { AnswerPattern, PayloadText } from '../payload-schemas.ts';
import { ports } from './ports.ts';

// MQTT 3.1.1, section 4.7; MQTT 5.0, section 4.7.
const Topic = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^\P{Cc}+$/u, { error: 'must not contain control characters' });

export const Spec = z
  .strictObject({
    type: z.literal('mqtt'),
    host: ServerHost(ports),
    ...serverOptions,
    version: z.literal([4, 5]).default(4).describe('The protocol: 4 is MQTT 3.1.1, 5 is MQTT 5.0.'),
    topic: Topic.optional().describe(
      'The topic to subscribe to; with wildcards if nothing is published. Default: the check only signs in.',
    ),
    publish: PayloadText.optional().describe(
      'The text of a message to publish to the topic, not retained; the check waits until it comes back.',
    ),
    qos: z.literal([0, 1]).default(0).describe('Quality of service of both.'),
    expect: AnswerPattern.optional().describe(
      'What a message on the topic must contain: text, { regex } or { hex }. Default: what was published, or any message.',
    ),
  })
  .superRefine((spec, context) => {
    const { topic, publish, expect } = spec;
    const say = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    refuseBoth(spec, 'password', 'password_file', context);
    if (topic === undefined && (publish !== undefined || expect !== undefined)) say('topic', 'is missing');
    if (publish !== undefined && topic !== undefined && /[#+]/.test(topic))
      say('topic', 'must not contain "#" or "+": messages are published to one topic');
  }, always);
export type Spec = z.output<typeof Spec>;
