import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { type AccessControl, sessionCookie } from '../access/access.ts';
import { isOwnForm, readForms } from '../access/caller.ts';
import { html, type Markup, nothing } from './markup.ts';
import type { PageSet } from './site.ts';
import { texts } from './texts.ts';

const Form = z.object({
  user: z.string().max(100),
  password: z.string().max(1_000),
  next: z.string().max(2_000).default('/'),
});

/** Signing in and out. */
export function loginRoutes(site: PageSet, access: AccessControl): FastifyPluginAsync {
  return async (app) => {
    readForms(app);
    const page = (next: string, objection: string | null) =>
      site.page({ title: texts.login.title, place: null, content: form(next, objection) });

    app.get<{ Querystring: Record<string, unknown> }>('/login', ({ query }, reply) => {
      const { headers, body } = page(ownPath(query['next']), null);
      return reply.headers(headers).send(body);
    });
    app.post('/login', async (request, reply) => {
      const asked = Form.safeParse(request.body);
      const next = ownPath(asked.data?.next);
      const result =
        !asked.success || !isOwnForm(request)
          ? 'wrong'
          : await access.signIn(asked.data.user, asked.data.password, request.ip);
      if (result === 'wrong' || result === 'busy') {
        const { headers, body } = page(next, texts.login[result]);
        return reply
          .code(result === 'wrong' ? 401 : 429)
          .headers(headers)
          .send(body);
      }
      return reply
        .header('set-cookie', sessionCookie(result.session, request.protocol === 'https'))
        .redirect(next, 303);
    });
    app.post('/logout', (request, reply) => {
      if (isOwnForm(request)) {
        access.signOut(request);
        reply.header('set-cookie', sessionCookie(null, request.protocol === 'https'));
      }
      return reply.redirect('/', 303);
    });
  };
}

// A path of ours: a login redirects nowhere else.
const ownPath = (next: unknown): string =>
  typeof next === 'string' && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/';

function form(next: string, objection: string | null): Markup {
  const words = texts.login;
  return html`<h1>${words.title}</h1>${objection === null ? nothing : html`<p class="notice down" role="alert">${objection}</p>`}
<form class="ask paper narrow" method="post" action="/login"><input type="hidden" name="next" value="${next}"><div><label for="user">${words.user}</label><input type="text" id="user" name="user" autocomplete="username" required autofocus maxlength="100"></div><div><label for="password">${words.password}</label><input type="password" id="password" name="password" autocomplete="current-password" required maxlength="1000"></div><div><button>${words.button}</button></div></form>`;
}
