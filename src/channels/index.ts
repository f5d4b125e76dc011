import { email } from './email.ts';

export type { ChannelEnvironment } from './channel.ts';
export { MailAddress, SmtpServer } from './smtp-server.ts';

/** THE list: every way to reach people. */
export const channels = [email] as const;

export type ChannelName = (typeof channels)[number]['name'];
