import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { clarityOf, judge, type Outage, type Reported, type Verdict } from './judge.ts';
import type { StoredMail } from './mail-server.ts';
import type { HistoryErrors } from './participants.ts';
import { type Mail, recipientsOf, type System } from './systems/system.ts';

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
  /** Seconds of downtime in its history beyond the truth, for each target that was down or is said to have been. */
  readonly history: HistoryErrors;
}

/** What its mails show. */
type MailResult = Omit<SystemResult, 'history'>;

export interface DayResult {
  readonly day: string;
  readonly seed: number;
  readonly results: readonly SystemResult[];
  /** How long the driver, with its targets and its mail server, was held up at the most; absent in older runs. */
  readonly heldUpMs?: number;
}

/** Judges all systems by their first recipients. */
export async function resultsOf(
  systems: readonly System[],
  outages: readonly Outage[],
  mails: readonly StoredMail[],
): Promise<readonly MailResult[]> {
  const firstOf = ({ name }: System) => recipientsOf(name, 1)[0] ?? '';
  return Promise.all(systems.map(async (system) => resultOf(system, firstOf(system), outages, mails)));
}

/** Judges the mails of a day again by what was kept of it in its folder. */
export async function judgeAgain(folder: string, systems: readonly System[]): Promise<DayResult> {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const before = read('result.json') as DayResult;
  const took = systems.filter(({ name }) => before.results.some(({ system }) => system === name));
  const results = await resultsOf(took, read('truth.json') as Outage[], read('mails.json') as StoredMail[]);
  const historyOf = (name: string) => before.results.find(({ system }) => system === name)?.history ?? null;
  return { ...before, results: results.map((one) => ({ ...one, history: historyOf(one.system) })) };
}

/** Judges what is in the mailbox of one recipient. */
export async function resultOf(
  system: System,
  recipient: string,
  outages: readonly Outage[],
  mails: readonly StoredMail[],
): Promise<MailResult> {
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
