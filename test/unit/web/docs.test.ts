import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FailureCode } from '#checks/index.ts';
import { openDocs } from '#web/pages/docs.ts';
import { codeLink, docsHref, docsPlaces } from '#web/pages/docs-links.ts';
import { renderMarkdown } from '#web/pages/markdown.ts';
import { tempFolder } from '../../support/store.ts';

const docs = openDocs();
const pages = new Map<string, Awaited<ReturnType<typeof docs.page>>>(
  await Promise.all(docs.paths.map(async (path) => [`/docs/${path}`, await docs.page(path)] as const)),
);

function resolves(from: string, href: string): boolean {
  const [path = '', anchor] = href.startsWith('#') ? [from, href.slice(1)] : href.split('#');
  if (path === '/docs') return true;
  const page = pages.get(path);
  return page !== undefined && page !== null && (anchor === undefined || page.anchors.has(anchor));
}

test('every link within the documentation leads to a page and a heading or row of it, and every image is there', async () => {
  expect(pages.size).toBeGreaterThan(30);
  const lost: string[] = [];
  let links = 0;
  for (const [path, page] of pages) {
    const text = String(page?.content);
    for (const [, href = ''] of text.matchAll(/<a href="(?!https?:)([^"]*)"/g)) {
      links += 1;
      if (!resolves(path, href)) lost.push(`${path}: ${href}`);
    }
    for (const [, source = ''] of text.matchAll(/<img src="\/docs\/([^"]*)"/g))
      if ((await docs.image(source)) === null) lost.push(`${path}: ${source}`);
  }
  expect(lost).toEqual([]);
  expect(links).toBeGreaterThan(200);
});

test('every place that pages lead to is there, and every failure code has its row', async () => {
  const names = Object.keys(docsPlaces) as (keyof typeof docsPlaces)[];
  expect(names.filter((name) => !resolves('', docsHref(name)))).toEqual([]);
  const checks = String(pages.get('/docs/checks')?.content);
  const table = checks.slice(checks.indexOf('id="failure-codes"'), checks.indexOf('id="times"'));
  expect(FailureCode.options.filter((code) => !table.includes(`<tr id="failure-codes-${code}">`))).toEqual([]);
  expect(
    FailureCode.options.filter((code) => !String(codeLink(code)).includes(`href="/docs/checks#failure-codes-${code}"`)),
  ).toEqual([]);
  expect(String(codeLink('of_another_version'))).toBe('of_another_version');
});

test('each page has a title, and its anchors are on it once', () => {
  for (const [path, page] of pages) {
    expect(page?.title, path).not.toBe('');
    const ids = [...String(page?.content).matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size, path).toBe(ids.length);
    expect(page?.anchors, path).toEqual(new Set(ids));
  }
});

test('anchors are those of GitHub', () => {
  const { anchors, content } = renderMarkdown(
    '# A title\n\n## `service.url`: the nodes\n\n## Übung, Teil 2\n\n## Same\n\n## Same\n\n| a | b |\n| --- | --- |\n| `same` | 1 |\n| `x_y` | 2 |\n',
    () => null,
  );
  expect([...anchors]).toEqual([
    'a-title',
    'serviceurl-the-nodes',
    'übung-teil-2',
    'same',
    'same-1',
    'same-1-same',
    'same-1-x_y',
  ]);
  expect(String(content)).toContain('<h2 id="serviceurl-the-nodes"><code>service.url</code>: the nodes</h2>');
});

test('markup in a text stays text, and a link that leads nowhere is its text', () => {
  const { content } = renderMarkdown(
    '# <b>a</b>\n\n<script>alert(1)</script>\n\n`<i>` <img src=x> [run](javascript:alert(1)) [home](https://example.com/?a=1&b="2")\n\n```\n<u>\n```\n',
    (href) => (href.startsWith('https://') ? href : null),
  );
  const text = String(content);
  expect(text).not.toMatch(/<script|<img|<i>|<u>|<b>|javascript:/);
  expect(text).toContain('<code>&lt;u&gt;</code>');
  expect(text).toContain('run <a href="https://example.com/?a=1&amp;b=&quot;2&quot;" rel="noopener">home</a>');
});

test('nothing but what is in the folder is served', async () => {
  using folder = tempFolder();
  writeFileSync(join(folder.path, 'secret.md'), '# secret\n');
  const inner = join(folder.path, 'docs');
  mkdirSync(inner);
  writeFileSync(join(inner, 'a.md'), '# A\n\nSee [b](b.md), [s](../secret.md) and [r](../README.md).\n');
  const own = openDocs(inner);
  expect(own.paths).toEqual(['a']);
  expect(String((await own.page('a'))?.content)).toContain('See b, s and <a href="/docs">r</a>.');
  for (const path of ['b', '../secret', 'a.md', '', '__proto__']) expect(await own.page(path)).toBe(null);
  for (const path of ['a.md', '../secret.md', 'images/x.png']) expect(await own.image(path)).toBe(null);
  expect(openDocs(join(folder.path, 'none')).paths).toEqual([]);
});
