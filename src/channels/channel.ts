import type { z } from 'zod';
import type { Clock } from '#kernel/clock.ts';
import type { SecretFiles } from '#kernel/files.ts';
import type { Log } from '#kernel/log.ts';
import type { Channel, RenewalTimes } from '#monitor/notify/channel.ts';
import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';
import type { Device } from '#subscriptions/device-store.ts';

/** What every channel type gets to open its channel with. */
export interface ChannelEnvironment {
  readonly clock: Clock;
  readonly log: Log;
  /** The folder of the database: for a channel that keeps files. */
  readonly folder: string;
  /** The name of this machine. */
  readonly hostname: string;
  readonly renewal: RenewalTimes;
  /** The devices that get notifications; null if none was ever added. */
  readonly devices: PushDevices | null;
}

/** The devices of the channel `push`. */
export interface PushDevices {
  list(): readonly Device[];
  remove(id: string): unknown;
  /** What the keys of this installation are derived from. */
  secret(): string;
  /** The address to connect to for the host of a push service, or why none may be reached. Rejects only if aborted. */
  pin(host: string, allowPrivate: boolean, signal: AbortSignal): Promise<PinnedHost>;
}

export type PinnedHost =
  | { readonly ok: true; readonly address: { readonly address: string; readonly family: 4 | 6 } }
  | { readonly ok: false; readonly reason: string };

/** A section of the configuration with what its files hold. */
export interface Section<Value = unknown> {
  readonly value: Value;
  readonly files: SecretFiles;
}

/** An entry under `notify.<name>.<channel>` with what its files hold. */
export interface Contact<Entry> {
  /** The name under `notify`. */
  readonly notify: string;
  readonly entry: Entry;
  readonly files: SecretFiles;
}

/** What is wrong with a contact as a whole; `path` leads to it from its entry down. */
export interface ContactProblem {
  readonly path: readonly string[];
  readonly message: string;
}

type Schemas = Readonly<Record<string, z.ZodType>>;
type SectionsOf<Sections extends Schemas> = { readonly [Key in keyof Sections]: Section<z.output<Sections[Key]>> };

/** A way to reach people. A channel is one file and one line in `index.ts`; nothing else in the program names it. */
export interface ChannelType<
  Name extends string,
  Entry extends z.ZodType,
  Sections extends Schemas = Readonly<Record<string, never>>,
> {
  /** The key in `notify`, in stored deliveries and in metrics. */
  readonly name: Name;
  /** One sentence for help texts. */
  readonly summary: string;
  /** What stands under `notify.<name>.<channel>`. */
  readonly Entry: Entry;
  /** Sections of the configuration that are this channel's alone, by their keys at the top; a reload that changes one opens the channel anew. */
  readonly sections: Sections;
  /** Whom messages go to, each on their own: texts that are stored, shown and given to `send`, so without secrets. */
  recipientsOf(contact: Contact<z.output<Entry>>): readonly string[];
  /** The delivery policy of its recipients, if this channel prescribes parts of it. */
  policyOf?(wished: DeliveryPolicy): DeliveryPolicy;
  /** Set where the other side keeps an alert, and may repeat it, until it is sent the end of the incident. */
  readonly keepsAlerts?: true;
  /** What only shows once the files are read. */
  problemsOf?(contact: Contact<z.output<Entry>>): readonly ContactProblem[];
  /** `contacts` are those of the configuration in force, whenever it is called. */
  open(
    environment: ChannelEnvironment,
    contacts: () => readonly Contact<z.output<Entry>>[],
    sections: SectionsOf<Sections>,
  ): Channel;
}
