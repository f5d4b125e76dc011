import type { Log } from '#kernel/log.ts';
import type { Channel } from '#monitor/ports.ts';
import type { SmtpServer } from './smtp-server.ts';

/** What a channel type gets to open its channel with. */
export interface ChannelEnvironment {
  readonly log: Log;
  /** The mail server, or null where none is configured. */
  readonly smtp: SmtpServer | null;
  /** Where mails are written as files while there is no mail server. */
  readonly mailFolder: string;
  /** The name of this machine, which it greets servers with. */
  readonly hostname: string;
}

/** A way to reach people. A channel is one file and one line in `index.ts`; nothing else in the program names it. */
export interface ChannelType<Name extends string> {
  /** The key in `notify`, in stored deliveries and in metrics. */
  readonly name: Name;
  /** One sentence for help texts. */
  readonly summary: string;
  open(environment: ChannelEnvironment): Channel;
}
