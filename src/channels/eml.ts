import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { makePrivateFolder, privateMode } from '#kernel/private-files.ts';
import { type Channel, type Message, usualAttemptMs } from '#monitor/notify/channel.ts';
import { mailOf } from './mail.ts';
import type { MailTemplate } from './template.ts';

export interface EmlOptions {
  readonly folder: string;
  readonly template: MailTemplate;
  readonly hostname: string;
  readonly log: Log;
}

/** Writes each mail into a folder as an `.eml` file that mail programs open: for trying out, without a mail server. */
export function createEmlChannel({ folder, template, hostname, log }: EmlOptions): Channel {
  const from = `Watchpost <watchpost@${hostname}>`;
  return {
    name: 'email',
    attemptMs: usualAttemptMs,
    async send(message, recipient, signal) {
      const path = join(folder, fileNameOf(message));
      const unfinished = `${path}.tmp`;
      try {
        const { createTransport } = await import('nodemailer');
        const transport = createTransport({ streamTransport: true, buffer: true });
        const sent = await transport.sendMail({ ...mailOf(message, template, from, recipient), newline: 'windows' });
        await makePrivateFolder(folder);
        await writeFile(unfinished, sent.message, { signal, flush: true, mode: privateMode });
        await rename(unfinished, path);
      } catch (error) {
        return { kind: 'retry', reason: `cannot write ${path}: ${messageOf(error)}` };
      }
      log.info({ recipient, path }, `mail written to ${path}; configure smtp to send mails`);
      return { kind: 'delivered', response: `written to ${path}` };
    },
    renew: null,
    close: async () => {},
  };
}

// Sorts by time and tells what it is about; the id makes a repeat the same file.
function fileNameOf({ at, content: { subject }, id }: Message): string {
  const time = new Date(at).toISOString().replaceAll(/[-:]/g, '').replace('.', '');
  const slug = subject
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${time}-${slug}-${id.slice(0, 12)}.eml`;
}
