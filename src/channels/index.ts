import type { z } from 'zod';
import type { Channel } from '#monitor/notify/channel.ts';
import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';
import { alertmanager } from './alertmanager.ts';
import { apprise } from './apprise.ts';
import type { ChannelEnvironment, Contact, ContactProblem, Section } from './channel.ts';
import { discord } from './discord.ts';
import { email } from './email.ts';
import { googlechat } from './googlechat.ts';
import { gotify } from './gotify.ts';
import { matrix } from './matrix.ts';
import { mattermost } from './mattermost.ts';
import { ntfy } from './ntfy.ts';
import { opsgenie } from './opsgenie.ts';
import { pagerduty } from './pagerduty.ts';
import { push } from './push.ts';
import { pushover } from './pushover.ts';
import { rocketchat } from './rocketchat.ts';
import { signal } from './signal.ts';
import { slack } from './slack.ts';
import { splunkoncall } from './splunkoncall.ts';
import { teams } from './teams.ts';
import { telegram } from './telegram.ts';
import { twilio } from './twilio.ts';
import { webex } from './webex.ts';
import { webhook } from './webhook.ts';
import { zulip } from './zulip.ts';

export type { ChannelEnvironment, Contact, PushDevices, Section } from './channel.ts';
export { pushKeysOf } from './web-push.ts';
export { ping } from './call.ts';
export { createSubscriberMailer, isMailAddress } from './subscriber-mailer.ts';
export { faultOfMailTemplate } from './template.ts';
export { webhookJsonSchema } from './webhook-body.ts';

/** THE list: every way to reach people, in any order. */
const channels = [
  email,
  webhook,
  slack,
  discord,
  teams,
  mattermost,
  rocketchat,
  googlechat,
  zulip,
  webex,
  telegram,
  signal,
  twilio,
  ntfy,
  gotify,
  pushover,
  matrix,
  pagerduty,
  opsgenie,
  splunkoncall,
  alertmanager,
  apprise,
  push,
] as const;

/** A channel type with its own entry and sections out of sight: what shared code handles. */
export interface AnyChannelType {
  readonly name: (typeof channels)[number]['name'];
  readonly summary: string;
  readonly Entry: z.ZodType;
  readonly sections: Readonly<Record<string, z.ZodType>>;
  recipientsOf(contact: Contact<unknown>): readonly string[];
  policyOf?(wished: DeliveryPolicy): DeliveryPolicy;
  readonly keepsAlerts?: true;
  problemsOf?(contact: Contact<unknown>): readonly ContactProblem[];
  open(
    environment: ChannelEnvironment,
    contacts: () => readonly Contact<unknown>[],
    sections: Readonly<Record<string, Section>>,
  ): Channel;
}

// Sound because every entry and section was parsed by the schema of the very channel that it is handed to.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const channelTypes = channels as unknown as readonly AnyChannelType[];

/** The delivery policy of a recipient of this channel. */
export function policyOf(channel: string, wished: DeliveryPolicy): DeliveryPolicy {
  return channelTypes.find(({ name }) => name === channel)?.policyOf?.(wished) ?? wished;
}
