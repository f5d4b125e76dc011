import { z } from 'zod';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Secret } from '#kernel/secret.ts';
import type { Channel } from '#monitor/tell/channel.ts';
import type { SmtpServer } from './smtp-server.ts';
import type { MailTemplate } from './template.ts';

/** The path of a file whose contents the program needs. Keys of it end in `_file`: that is how they are found and read. */
export const FilePath = z.string().min(1).max(4_096);

/** What the files of a section hold, by the key that names them from the section down: `password_file`, `dkim.key_file`. */
export type Files = Readonly<Record<string, Secret>>;

/** What a channel type gets to open its channel with. */
export interface ChannelEnvironment {
  readonly clock: Clock;
  readonly log: Log;
  /** The mail server, or null where none is configured. */
  readonly smtp: SmtpServer | null;
  readonly mailTemplate: MailTemplate;
  /** Where mails are written as files while there is no mail server. */
  readonly mailFolder: string;
  /** The name of this machine, which it greets servers with. */
  readonly hostname: string;
}

/** An entry under `notify.<name>.<channel>` with what its files hold. */
export interface Contact<Entry> {
  /** The name under `notify`. */
  readonly notify: string;
  readonly entry: Entry;
  readonly files: Files;
}

/** A way to reach people. A channel is one file and one line in `index.ts`; nothing else in the program names it. */
export interface ChannelType<Name extends string, Entry extends z.ZodType> {
  /** The key in `notify`, in stored deliveries and in metrics. */
  readonly name: Name;
  /** One sentence for help texts. */
  readonly summary: string;
  /** What stands under `notify.<name>.<channel>`. */
  readonly Entry: Entry;
  /** Whom messages go to, each on their own: texts that are stored, shown and given to `send`, so without secrets. */
  recipientsOf(contact: Contact<z.output<Entry>>): readonly string[];
  /** `contacts` are those of the configuration in force, whenever it is called. */
  open(environment: ChannelEnvironment, contacts: () => readonly Contact<z.output<Entry>>[]): Channel;
}
