import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { channelTypes, createMailTemplate } from '#channels/index.ts';
import type { Config } from '#config/config.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { type DeliveryPolicy, plainPolicy } from '#monitor/policy.ts';
import type { Channel } from '#monitor/ports.ts';

// The part of compose.ts that commands without a daemon need as well.

export interface ChannelsEnvironment {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

/** Opens every channel. Throws `config_invalid` where the template of mails cannot be used. */
export function openChannels(config: Config, environment: ChannelsEnvironment): readonly Channel[] {
  const shared = {
    ...environment,
    smtp: config.smtp,
    mailTemplate: createMailTemplate(config.mailTemplate ?? undefined),
    mailFolder: join(dirname(config.data), 'mail'),
    hostname: hostname(),
  };
  return channelTypes.map((type) => type.open(shared, config.contacts[type.name] ?? []));
}

/** How each recipient wants to be told: as the first entry under `notify` says that names them. */
export function policiesOf({ notify }: Config): (address: { channel: string; recipient: string }) => DeliveryPolicy {
  const policies = new Map<string, DeliveryPolicy>();
  const keyOf = (address: { channel: string; recipient: string }) => `${address.channel} ${address.recipient}`;
  for (const { addresses, policy } of notify.toReversed()) {
    for (const address of addresses) policies.set(keyOf(address), policy);
  }
  return (address) => policies.get(keyOf(address)) ?? plainPolicy;
}
