import { expect, test } from 'vitest';
import english from '#languages/en.json' with { type: 'json' };
import { createLanguage, type LanguageFile, type VisitorLanguage } from '#languages/language.ts';
import { builtInLanguages, createLanguages, languageFolder, readLanguages } from '#languages/languages.ts';
import { loadAssets } from '#web/assets/assets.ts';
import { brandOf, headOf } from '#web/pages/brand.ts';
import { createSite } from '#web/pages/site.ts';
import { archiveContent, archiveHeading } from '#web/pages/status-archive.ts';
import { feedOf } from '#web/pages/status-feed.ts';
import { linkContent, subscribeForm, subscribeSent } from '#web/pages/subscribe.ts';
import { subscriberMail } from '#subscriptions/subscriber-mail.ts';
import type { SubscriptionNews } from '#subscriptions/subscription-store.ts';
import { mailPlaceOf, placeOf } from '#web/pages/status-place.ts';
import { type StatusService, statusContent, statusTitle, type StatusValue } from '#web/pages/status.ts';
import { noteStages } from '#web/state/notes.ts';
import { languageChooser } from '#web/pages/visitor-language.ts';
import { missingStatusPage, visitorProblem } from '#web/pages/visitor-problem.ts';
import type { Past } from '#web/pages/past.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import { incident } from '../../support/store.ts';

const now = Date.parse('2026-03-02T12:00:00Z');
const place = placeOf({
  page: 'status',
  domain: undefined,
  isOnDomain: false,
  requested: 'http://x',
  publicUrl: 'https://status.example.com',
});
const site = createSite({ assets: await loadAssets(), places: [], service: null });
const states = ['up', 'partial', 'down', 'unknown', 'maintenance', 'waiting'] as const;

const pastOf = (knownMs: number | null, uptime: number | null): Past => ({
  days: ['up', 'down', 'partial', 'unknown', 'maintenance', 'waiting', 'excluded', null],
  downMs: [0, 3_900_000, 0, 0, 0, 0, 0, 0],
  uptime,
  since: now - 90_000_000,
  knownMs,
  budgetLeft: null,
});

const open: Incident = incident('t1', now - 60_000);
const serviceIn = (status: StatusService['status'], index: number): StatusService => ({
  name: `(${index})`,
  target: `t${index}`,
  status,
  since: now - 60_000,
  past: [pastOf(null, 0.99912), pastOf(90_000_000, 1), pastOf(null, null)][index % 3] ?? null,
  incidents: status === 'down' ? [open] : [],
});

const pastNote = { page: 'status', words: '(note)', endsAt: now - 1, targets: ['t1'] };

function valueOf(services: readonly StatusService[]): StatusValue {
  const maintenance = [
    { from: now - 1, to: now + 3_600_000, services: ['(1)', '(2)'] },
    { from: now + 1, to: now + 3_600_000, services: ['(1)'] },
  ];
  return {
    title: '(title)',
    canSubscribe: true,
    services,
    pastNotes:
      services.length === 1
        ? []
        : [
            { ...pastNote, id: 'd', createdAt: now - 60_000, stage: 'resolved', thread: 'c' },
            { ...pastNote, id: 'c', createdAt: now - 120_000, stage: 'investigating', thread: null },
          ],
    notes: [
      {
        id: 'a',
        page: 'status',
        words: '(note)',
        createdAt: now,
        endsAt: null,
        thread: null,
        stage: null,
        targets: ['t1'],
      },
      {
        id: 'b',
        page: 'status',
        words: '(note)',
        createdAt: now,
        endsAt: now + 1,
        thread: 'a',
        stage: null,
        targets: [],
      },
      ...noteStages.map((stage) => ({
        id: stage,
        page: 'status',
        words: '(note)',
        createdAt: now,
        endsAt: null,
        thread: 'a',
        stage,
        targets: [],
      })),
    ],
    maintenance,
    groups: [{ name: '(group)', targets: ['t1'] }],
    outages:
      services.length === 1
        ? []
        : [
            { service: '(1)', from: now - 3_600_000, to: now },
            { service: '(2)', from: now, to: null },
          ],
    now,
  };
}

// Every sentence that the head of a page may be.
const circumstances = [
  states.map(serviceIn),
  ...states.map((one) => [serviceIn(one, 1)]),
  [serviceIn('up', 1), serviceIn('unknown', 2)],
  [serviceIn('maintenance', 1), serviceIn('unknown', 2)],
  Array.from({ length: 4 }, (_, index) => serviceIn('down', index)),
].map(valueOf);

/** Everything that visitors read, in one language. */
function renderings(languages: typeof builtInLanguages, code: string): readonly string[] {
  const language = languages.get(code) ?? expect.unreachable();
  const frame = { place: 'status', language, since: 1, foot: languageChooser(languages, language) } as const;
  const brand = brandOf('status', { status: { title: '(title)', targets: {}, groups: {}, links: {}, logo: null } });
  const pages = circumstances.map((value) =>
    site.page({
      ...frame,
      ...brand,
      title: statusTitle(value, language),
      live: place.live,
      content: statusContent(value, language, place),
      head: headOf(value, language, place),
    }),
  );
  const archives = [undefined, circumstances[0]].map((value) => {
    const archive = {
      title: '(title)',
      month: '2026-01',
      outages: value?.outages ?? [],
      notes: value?.pastNotes ?? [],
      services: value?.services ?? [],
      now,
      path: '/status',
    };
    const title = archiveHeading('2026-01', language);
    return site.page({ ...frame, ...brand, title, content: archiveContent(archive, language) });
  });
  const asked = { ...frame, ...brand, title: '(title)' };
  const forms = [
    subscribeForm(language, null, ''),
    ...(['subscribeBad', 'subscribeBusy', 'subscribeForeign'] as const).map((key) => subscribeForm(language, key, '')),
    subscribeSent(language),
    ...(['confirm', 'unsubscribe'] as const).flatMap((purpose) =>
      (['asked', 'done', 'over'] as const).map((state) => linkContent(language, purpose, state)),
    ),
  ].map((content) => site.page({ ...asked, content }));
  const feeds = circumstances.map((value) => feedOf(value, language, place).replace('<name>Watchpost</name>', ''));
  return [
    ...[...pages, ...archives, ...forms, missingStatusPage(site, language), visitorProblem(site, language, 500)].map(
      ({ body }) => body,
    ),
    ...feeds,
    mailsIn(language),
  ];
}

const subscriber = {
  id: '0',
  page: 'status',
  address: 'ann@example.com',
  language: 'en',
  secret: 'x',
  askedAt: now,
  confirmedAt: now,
};
const mailPlace = { title: '(title)', ...mailPlaceOf('status', undefined, 'https://status.example.com') };

/** Every mail to a subscriber, as markup. */
function mailsIn(language: VisitorLanguage): string {
  const [from, to] = [now - 3_600_000, now];
  const news: readonly (readonly SubscriptionNews[])[] = [
    [{ kind: 'confirm' }],
    [{ kind: 'began', service: '(1)', from, to: null }],
    [
      { kind: 'ended', service: '(1)', from, to },
      { kind: 'note', words: '(note)', at: now },
      { kind: 'ended', service: '(1)', from, to, isClosed: true },
    ],
  ];
  const mails = news.map((one) => {
    const mail = { id: 'x', subscriber: '0', news: one, createdAt: now, nextAttemptAt: now, attempts: 0 };
    return subscriberMail(mail, subscriber, mailPlace, language);
  });
  const written = mails.map(({ subject, text }) => `<p>${subject}</p><p>${text}</p>`);
  return `<html lang="${language.code}">${written.join('')}</html>`;
}

/** The texts of markup that people read or hear. */
function textsOf(markup: string): readonly string[] {
  const said = ['aria-label', 'alt', 'title', 'data-words', 'data-lost', 'data-lost-title', 'content'];
  const attributes = [...markup.matchAll(/\s([\w-]+)="([^"]*)"/g)].flatMap(([, name = '', value = '']) =>
    said.includes(name) ? [value] : [],
  );
  const written = markup
    .replace(
      /<meta name="(?:viewport|color-scheme)"[^>]*>|<meta property="og:(?:type|url|locale|image|image:type|image:width)"[^>]*>|<meta name="twitter:card"[^>]*>/g,
      '',
    )
    .replace(/<nav class="row small languages".*?<\/nav>/s, '');
  return [...attributes.filter((value) => written.includes(`"${value}"`)), ...written.split(/<[^>]*>/)]
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

test('every text that visitors read is in their language', () => {
  const marked = (text: string) => `⟦${text}⟧`.replaceAll(/\{\w+\}/g, '⟧$&⟦');
  const texts: LanguageFile['texts'] = Object.fromEntries(
    Object.entries(english.texts).map(([key, text]) => [
      key,
      typeof text === 'string' ? marked(text) : { one: marked(text.one), other: marked(text.other) },
    ]),
  );
  const file = { name: 'English', locale: 'ja-JP', texts };
  const languages = new Map([['xx', createLanguage('xx', file)]]);
  const all = renderings(languages, 'xx').flatMap(textsOf);
  expect(all.some((text) => text.includes('⟦All services are working.⟧'))).toBe(true);
  // What is left is of the page itself, or written by Intl.
  const unmarked = all.map((text) => text.replaceAll(/⟦[^⟦⟧]*⟧|\([\w)]*\)|UTC|&quot;|\{time\}|https:\S+/g, ''));
  expect([...new Set(unmarked.filter((text) => /[A-Za-z]{2}/.test(text)))]).toEqual([]);
});

test('every text of the files is shown somewhere', () => {
  const shown = renderings(builtInLanguages, 'en').join('\n');
  const texts: Readonly<Record<string, string | { readonly one: string; readonly other: string }>> = english.texts;
  const unused = Object.entries(texts).filter(([key, text]) => {
    const pieces = (
      typeof text === 'string' ? text : key === 'downMany' || key === 'mailNews' ? text.other : text.one
    ).split(/\{\w+\}/);
    return !pieces.every((piece) => shown.includes(piece.trim()));
  });
  expect(unused.map(([key]) => key)).toEqual([]);
});

const files = readLanguages(languageFolder);
const sentences = Object.values(english.texts).flatMap((text) => (typeof text === 'string' ? [text] : [text.other]));

test.for([...files.keys()].filter((code) => code !== 'en'))(
  'a page in %s has no English left, and says which language it is',
  (code) => {
    const all = renderings(createLanguages(files), code);
    for (const one of all) expect(one).toMatch(new RegExp(`(?:<html lang|xml:lang)="${code}"`));
    const texts = all.flatMap(textsOf).join('\n');
    // Words of several languages stand in one of them rightly.
    const own = JSON.stringify(files.get(code)?.texts);
    for (const sentence of sentences)
      for (const piece of sentence.split(/\{\w+\}/))
        if (piece.trim().length > 6 && !own.includes(piece)) expect(texts).not.toContain(piece);
  },
);
