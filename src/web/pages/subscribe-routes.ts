import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { VisitorLanguage } from '#languages/language.ts';
import type { Languages } from '#languages/languages.ts';
import type { LinkPurpose, Subscriptions } from '#subscriptions/subscriptions.ts';
import { isOwnForm } from '../access/caller.ts';
import { brandOf } from './brand.ts';
import type { Markup } from './markup.ts';
import type { PageSet } from './site.ts';
import type { StatusPlace } from './status-place.ts';
import type { ConfiguredPages } from './status-value.ts';
import { linkContent, linkTitle, subscribeForm, subscribeSent } from './subscribe.ts';
import { languageChooser, languageFor, languageVary, rememberLanguage } from './visitor-language.ts';

export interface SubscribeRoutes {
  readonly site: PageSet;
  readonly pages: () => ConfiguredPages;
  readonly subscriptions: Subscriptions;
  /** Whether a text is an address that mails can be sent to. */
  readonly isMailAddress: (text: string) => boolean;
  readonly languages: Languages;
  readonly placeFor: (page: string, request: FastifyRequest) => StatusPlace;
  readonly missing: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
}

const Form = z.object({ address: z.string().trim().max(254).toLowerCase() });

// Links of mails are as good as passwords, and the form is filled in by people only.
const headers = { 'x-robots-tag': 'noindex', ...languageVary };

type PageParams = { Params: { name: string } };
type LinkParams = { Params: { name: string; token: string } };

/** The form to subscribe to a status page by mail, and what the links of its mails lead to. */
export function subscribeRoutes(routes: SubscribeRoutes): FastifyPluginAsync {
  const { site, pages, subscriptions, isMailAddress, languages, placeFor, missing } = routes;

  interface Shown {
    readonly name: string;
    readonly status: number;
    readonly title: string;
    readonly content: Markup;
    readonly language: VisitorLanguage;
  }

  function show(request: FastifyRequest, reply: FastifyReply, { name, status, title, content, language }: Shown) {
    rememberLanguage(request, reply, languages);
    const foot = languageChooser(languages, language);
    const brand = brandOf(name, pages(), placeFor(name, request).home);
    const page = site.page({ title, place: 'status', content, language, foot, ...brand }, headers);
    return reply.code(status).headers(page.headers).send(page.body);
  }

  const isOpen = (name: string) => Object.hasOwn(pages(), name) && pages()[name]?.subscribe === true;

  function showForm(
    name: string,
    request: FastifyRequest,
    reply: FastifyReply,
    objection: { readonly status: number; readonly key: Parameters<typeof subscribeForm>[1]; readonly address: string },
  ) {
    const language = languageFor(request, languages);
    const content = subscribeForm(language, objection.key, objection.address);
    return show(request, reply, {
      name,
      status: objection.status,
      title: language.say('subscribe'),
      content,
      language,
    });
  }

  function take(name: string, request: FastifyRequest, reply: FastifyReply) {
    const language = languageFor(request, languages);
    const { address = '' } = Form.safeParse(request.body).data ?? {};
    const refuse = (status: number, key: 'subscribeForeign' | 'subscribeBad' | 'subscribeBusy') =>
      showForm(name, request, reply, { status, key, address });
    if (!isOwnForm(request)) return refuse(403, 'subscribeForeign');
    if (!isMailAddress(address)) return refuse(400, 'subscribeBad');
    if (!subscriptions.admits(request.ip)) return refuse(429, 'subscribeBusy');
    // After the answer: how long it takes does not say whether the address is known.
    reply.raw.once('finish', () => subscriptions.request({ page: name, address, language: language.code }));
    const content = subscribeSent(language);
    return show(request, reply, { name, status: 200, title: language.say('subscribe'), content, language });
  }

  function followLink(purpose: LinkPurpose, request: FastifyRequest<LinkParams>, reply: FastifyReply) {
    const { name, token } = request.params;
    if (!Object.hasOwn(pages(), name)) return missing(request, reply);
    const language = languageFor(request, languages);
    const isDone = request.method === 'POST' && subscriptions.follow(purpose, name, token);
    const isAsked = request.method !== 'POST' && subscriptions.isValid(purpose, name, token);
    const state = isDone ? 'done' : isAsked ? 'asked' : 'over';
    const title = linkTitle(language, purpose);
    const content = linkContent(language, purpose, state);
    return show(request, reply, { name, status: state === 'over' ? 404 : 200, title, content, language });
  }

  return async (app) => {
    app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    );
    // RFC 8058: what mail programs send may be of any type, and says nothing more.
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null, null));
    app.get<PageParams>('/status/:name/subscribe', (request, reply) => {
      const { name } = request.params;
      if (!isOpen(name)) return missing(request, reply);
      return showForm(name, request, reply, { status: 200, key: null, address: '' });
    });
    app.post<PageParams>('/status/:name/subscribe', (request, reply) =>
      isOpen(request.params.name) ? take(request.params.name, request, reply) : missing(request, reply),
    );
    for (const purpose of ['confirm', 'unsubscribe'] as const) {
      const path = `/status/:name/${purpose}/:token`;
      app.get<LinkParams>(path, (request, reply) => followLink(purpose, request, reply));
      app.post<LinkParams>(path, (request, reply) => followLink(purpose, request, reply));
    }
  };
}
