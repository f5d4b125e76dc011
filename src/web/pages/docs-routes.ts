import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { AccessControl } from '../access/access.ts';
import type { Docs } from './docs.ts';
import { docsTexts } from './docs-texts.ts';
import { onlyReaders } from './guard.ts';
import { html, type Markup } from './markup.ts';
import { missing, send } from './page-reply.ts';
import type { PageSet } from './site.ts';

export interface DocsRoutes {
  readonly docs: Docs;
  readonly site: PageSet;
  /** Null if everyone may read it. */
  readonly access: AccessControl | null;
}

/** The pages of the documentation. */
export function addDocs(app: FastifyInstance, { docs, site, access }: DocsRoutes): void {
  const guard = access === null ? {} : { onRequest: onlyReaders(access, site) };
  app.get('/docs', guard, async (request, reply) => {
    const user = access?.userOf(request) ?? null;
    return send(reply, site.page({ user, title: docsTexts.title, place: null, content: await listOf(docs) }));
  });
  app.get<{ Params: { '*': string } }>('/docs/*', guard, async (request, reply) => {
    const path = request.params['*'];
    if (path === '') return reply.redirect('/docs', 301);
    const image = await docs.image(path);
    if (image !== null) return reply.type(image.type).header('cache-control', 'private, max-age=3600').send(image.body);
    // A link that was copied from the sources has the end of the file in it.
    const page = await docs.page(path.replace(/\.md$/, ''));
    if (page === null) return missing(reply, site, `there is no page ${path} in the documentation`);
    const { title, content } = page;
    return send(reply, site.page({ user: access?.userOf(request) ?? null, title, place: null, content }));
  });
}

async function listOf(docs: Docs): Promise<Markup> {
  const paths = docs.paths.filter((path) => !path.includes('/'));
  const items: Markup[] = [];
  for (const path of paths) {
    const page = await docs.page(path);
    items.push(
      html`<li><a href="/docs/${path}">${page?.title ?? path}</a> <span class="soft">${page?.lead ?? ''}</span></li>`,
    );
    // Each is rendered when it is first asked for; all of them take half a second.
    await nextTurn();
  }
  return html`<h1>${docsTexts.title}</h1><p class="lead">${docsTexts.lead}</p><ul>${items}</ul>`;
}
