import PostalMime from 'postal-mime';
import { clarityOf, judge, type Outage, type Reported, type Verdict } from './judge.ts';
import type { StoredMail } from './mail-server.ts';
import type { Mail, System } from './systems/system.ts';

/** What one system did on one day. */
export interface SystemResult {
  readonly system: string;
  /** All that were in the mailbox. */
  readonly mails: number;
  readonly verdict: Verdict;
  /** Mails that report a beginning, and how many of them are without a target, a reason or a time. */
  readonly unclear: {
    readonly beginnings: number;
    readonly target: number;
    readonly reason: number;
    readonly time: number;
  };
}

export interface DayResult {
  readonly day: string;
  readonly seed: number;
  readonly results: readonly SystemResult[];
}

/** Judges what is in the mailbox of one recipient. */
export async function resultOf(
  system: System,
  recipient: string,
  outages: readonly Outage[],
  mails: readonly StoredMail[],
): Promise<SystemResult> {
  const unclear = { beginnings: 0, target: 0, reason: 0, time: 0 };
  const reports: Reported[] = [];
  for (const { at, raw } of mails.filter(({ recipients }) => recipients.includes(recipient))) {
    const mail = await parse(raw);
    const report = system.read(mail);
    reports.push({ at, ...report });
    if (report.began.length === 0) continue;
    const clarity = clarityOf(report.began, `${mail.subject}\n${mail.text}`);
    unclear.beginnings += 1;
    for (const what of ['target', 'reason', 'time'] as const) if (!clarity[what]) unclear[what] += 1;
  }
  return { system: system.name, mails: reports.length, verdict: judge(outages, reports), unclear };
}

async function parse(raw: string): Promise<Mail> {
  const { subject = '', text, html = '' } = await PostalMime.parse(raw);
  const content =
    text ??
    html
      .replaceAll(/<(style|title)[\s\S]*?<\/\1>/g, '')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ');
  return { subject, text: content.replaceAll(/[ \t]*\r?\n/g, '\n') };
}
