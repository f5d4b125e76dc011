import type { z } from 'zod';
import type { Channel } from '#monitor/tell/channel.ts';
import type { ChannelEnvironment, Contact, ContactProblem, Section } from './channel.ts';
import { email } from './email.ts';
import { webhook } from './webhook.ts';

export type { ChannelEnvironment, Contact, Section } from './channel.ts';
export { ping } from './call.ts';
export { webhookJsonSchema } from './webhook-body.ts';

/** THE list: every way to reach people, in any order. */
const channels = [email, webhook] as const;

/** A channel type with its own entry and sections out of sight: what shared code handles. */
export interface AnyChannelType {
  readonly name: (typeof channels)[number]['name'];
  readonly summary: string;
  readonly Entry: z.ZodType;
  readonly sections: Readonly<Record<string, z.ZodType>>;
  recipientsOf(contact: Contact<unknown>): readonly string[];
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
