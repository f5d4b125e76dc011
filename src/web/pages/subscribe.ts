import type { TextKey, VisitorLanguage } from '#languages/language.ts';
import type { LinkPurpose } from '#subscriptions/subscriptions.ts';
import { html, type Markup, nothing } from './markup.ts';

/** The form for a mail address, with what was wrong before, or null. */
export function subscribeForm(language: VisitorLanguage, objection: TextKey | null, address: string): Markup {
  const notice =
    objection === null
      ? nothing
      : html`<p class="notice down" role="alert" id="objection">${language.say(objection)}</p>`;
  const described = objection === null ? nothing : html` aria-describedby="objection" aria-invalid="true"`;
  return html`<h1>${language.say('subscribe')}</h1><p>${language.say('subscribeHint')}</p>${notice}
<form class="ask paper narrow" method="post"><div><label for="address">${language.say('address')}</label><input type="email" id="address" name="address" autocomplete="email" required maxlength="254" value="${address}"${described}></div><div><button>${language.say('subscribeButton')}</button></div></form>`;
}

export const subscribeSent = (language: VisitorLanguage): Markup =>
  html`<h1>${language.say('subscribe')}</h1><p class="lead">${language.say('subscribeSent')}</p><p class="soft">${language.say('subscribeSentHint')}</p>`;

const purposes = {
  confirm: { title: 'confirmTitle', button: 'confirmButton', done: 'confirmed' },
  unsubscribe: { title: 'leaveTitle', button: 'leaveButton', done: 'left' },
} as const satisfies Record<LinkPurpose, Readonly<Record<string, TextKey>>>;

export const linkTitle = (language: VisitorLanguage, purpose: LinkPurpose): string =>
  language.say(purposes[purpose].title);

/** What the link of a mail leads to: a button, since programs that look into mails follow links but press no buttons. */
export function linkContent(language: VisitorLanguage, purpose: LinkPurpose, state: 'asked' | 'done' | 'over'): Markup {
  const { button, done } = purposes[purpose];
  const rest =
    state === 'asked'
      ? html`<form method="post"><button>${language.say(button)}</button></form>`
      : html`<p class="lead">${language.say(state === 'done' ? done : 'linkOver')}</p>`;
  return html`<h1>${linkTitle(language, purpose)}</h1>${rest}`;
}
