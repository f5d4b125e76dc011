import type { VisitorLanguage } from '#languages/language.ts';
import { linkToken } from './subscriptions.ts';
import type { Subscriber, SubscriptionMail, SubscriptionNews } from './subscription-store.ts';

/** A mail as it is sent. */
export interface PlainMail {
  /** The left part of its Message-ID. */
  readonly id: string;
  readonly at: number;
  readonly subject: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A status page as mails about it show it. */
export interface SubscribedPage {
  readonly title: string;
  readonly url: string;
  /** Where a link of a mail leads. */
  readonly linkTo: (purpose: 'confirm' | 'unsubscribe', token: string) => string;
}

/** Writes a mail to a subscriber in the language of the subscription. */
export function subscriberMail(
  { id, news, createdAt }: SubscriptionMail,
  subscriber: Subscriber,
  page: SubscribedPage,
  language: VisitorLanguage,
): PlainMail {
  const { title, url } = page;
  const leave = page.linkTo('unsubscribe', linkToken(subscriber, 'unsubscribe'));
  const base = { id, at: createdAt };
  if (news.some(({ kind }) => kind === 'confirm')) {
    const confirm = page.linkTo('confirm', linkToken(subscriber, 'confirm'));
    const text = [language.say('mailConfirm', { title }), confirm, language.say('mailConfirmIgnore'), url];
    return { ...base, subject: language.say('mailConfirmSubject', { title }), text: joined(text), headers: {} };
  }
  const lines = news.map((one) => lineOf(one, language));
  const [only = ''] = lines;
  const more = language.say('mailNews', { count: lines.length });
  return {
    ...base,
    subject: `${title}: ${lines.length === 1 ? only : more}`,
    text: joined([
      lines.map((line) => (lines.length === 1 ? line : `- ${line}`)).join('\n'),
      url,
      `${language.say('mailLeave')}\n${leave}`,
    ]),
    // RFC 8058: a mail program unsubscribes by one POST to this address.
    headers: { 'List-Unsubscribe': `<${leave}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  };
}

const joined = (paragraphs: readonly string[]) => `${paragraphs.join('\n\n')}\n`;

function lineOf(one: SubscriptionNews, language: VisitorLanguage): string {
  switch (one.kind) {
    case 'confirm':
      return '';
    case 'note':
      return one.stage === undefined || one.stage === null ? one.words : `${language.say(one.stage)}: ${one.words}`;
    case 'began':
      return language.say('mailBegan', { service: one.service, time: language.time(one.from) });
    case 'ended': {
      if (one.isClosed === true)
        return language.say('mailClosed', { service: one.service, time: language.time(one.from) });
      const duration = language.duration(Math.max(0, (one.to ?? one.from) - one.from));
      return language.say('mailEnded', { service: one.service, duration });
    }
  }
}
