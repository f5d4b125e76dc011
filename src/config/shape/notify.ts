import { z } from 'zod';
import { channelTypes } from '#channels/index.ts';
import { always } from '#kernel/refine.ts';
import { dayMs } from '#kernel/units.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { SecretUrl } from '#kernel/url.ts';
import { Severity } from '#monitor/judge/rule.ts';
import { HourRanges } from './hours.ts';
import { CronPattern, TimeZone } from './schedule.ts';
import { Names } from './target.ts';

const ways = Object.fromEntries(
  channelTypes.map(({ name, summary, Entry }) => [name, Entry.optional().describe(summary)]),
);
const names = channelTypes.map(({ name }) => name);
const oneOf = (all: readonly string[]) => `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;

const Storm = z.strictObject({
  messages: z.int().min(1).max(10_000).default(20).describe('How many messages at most.'),
  per: Duration({ min: '1m', max: '1d' }).default(3_600_000).describe('In any stretch of this length.'),
});

const policy = {
  severities: z
    .array(Severity)
    .min(1)
    .default([...Severity.options])
    .describe('Which incidents they are notified of, by the severity of the rule.'),
  grouped: z
    .boolean()
    .default(true)
    .describe('Whether incidents share messages. With false each has its own messages, at once.'),
  group_wait: Duration({ max: '1h' })
    .default(30_000)
    .describe('How long an incident waits for others to share its message.'),
  group_interval: Duration({ max: '1d' })
    .default(300_000)
    .describe(
      'How long after a message the next one of its group may follow; beginnings of critical incidents do not wait for it.',
    ),
  storm: Storm.prefault({}).describe('How many messages they get at most; what is beyond comes in digests.'),
  remind: z
    .array(Duration({ min: '1m', max: '30d' }))
    .max(20)
    .default([3_600_000, 14_400_000, dayMs])
    .describe('Waits before the reminders of an incident that stays open; the last one repeats. [] for none.'),
  timezone: TimeZone.optional().describe(
    'The time zone of the times in messages and of hours. Default: defaults.timezone.',
  ),
  after: Duration({ min: '1m', max: '7d' })
    .optional()
    .describe(
      'For how long an incident has to go on, unless acknowledged, before they are notified. Default: at once.',
    ),
  hours: HourRanges.optional().describe(
    'When they may be notified; an incident that begins outside is notified when hours begin if it is still open. Default: always.',
  ),
};

/** A recipient: at least one channel, and a delivery policy. */
export const Notify = z.strictObject({ ...ways, ...policy }).superRefine((entry, context) => {
  if (names.some((name) => Object.hasOwn(entry, name))) return;
  context.addIssue({ code: 'custom', message: `has no channel: add ${oneOf(names)}` });
}, always);
export type Notify = z.output<typeof Notify>;

const urlHint = 'expected an address to call, such as "https://hc.example.com/ping/abc"';

export const Heartbeat = z.strictObject({
  url: SecretUrl(urlHint).describe('What is called (GET).'),
  every: Duration({ min: '5s', max: '1d' }).default(60_000).describe('How often.'),
});

export const Summary = z.strictObject({
  cron: CronPattern.describe('When it is sent, such as "0 8 * * MON".'),
  timezone: TimeZone.optional().describe('The time zone of cron. Default: defaults.timezone.'),
  notify: Names('names under notify')
    .refine((names) => names.length > 0, { error: 'expected a name under notify, or a list of such names' })
    .describe('Who gets it: a name under notify, or a list.'),
});
