import { existsSync, globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { MarkdownPage } from './markdown.ts';

/** The documentation that comes with the program. */
export interface Docs {
  /** The paths of its pages, such as `alerting` or `decisions/0005-no-build-step`. */
  readonly paths: readonly string[];
  /** Null if there is no such page. */
  page(path: string): Promise<MarkdownPage | null>;
  /** A file beside the pages, such as `images/target.png`; null if there is none. */
  image(path: string): Promise<{ readonly type: string; readonly body: Buffer } | null>;
}

const types: Readonly<Record<string, string>> = { png: 'image/png', svg: 'image/svg+xml' };

// The same place in a checkout, the package and the image: a folder beside that of the program.
const usualFolder = join(import.meta.dirname, '../../../docs');

/** Pages are read when they are first asked for, and then stay: there are a few dozen. */
export function openDocs(folder: string = usualFolder): Docs {
  const found = existsSync(folder) ? globSync('**/*.{md,png,svg}', { cwd: folder }) : [];
  const paths = found.flatMap((file) => (file.endsWith('.md') ? [file.slice(0, -'.md'.length)] : [])).toSorted();
  const images = new Set(found.filter((file) => !file.endsWith('.md')));
  const pages = new Map<string, Promise<MarkdownPage>>();

  async function read(path: string): Promise<MarkdownPage> {
    const text = await readFile(join(folder, `${path}.md`), 'utf8');
    const { renderMarkdown } = await import('./markdown.ts');
    return renderMarkdown(text, (href) => ownHref(dirname(path), href, { paths, images }));
  }

  return {
    paths,
    async page(path) {
      if (!paths.includes(path)) return null;
      const page = pages.get(path) ?? read(path);
      pages.set(path, page);
      try {
        return await page;
      } catch (error) {
        pages.delete(path);
        throw error;
      }
    },
    async image(path) {
      const type = types[path.slice(path.lastIndexOf('.') + 1)];
      return images.has(path) && type !== undefined ? { type, body: await readFile(join(folder, path)) } : null;
    },
  };
}

/** Where a link of a page in this folder leads here; null for what does not come with the documentation. */
function ownHref(
  folder: string,
  href: string,
  { paths, images }: { readonly paths: readonly string[]; readonly images: ReadonlySet<string> },
): string | null {
  if (/^https?:\/\//.test(href) || href.startsWith('#')) return href;
  const [file = '', anchor] = href.split('#');
  const path = join(folder, file);
  const page = path.replace(/\.md$/, '');
  if (path === '../README.md') return '/docs';
  if (images.has(path)) return `/docs/${path}`;
  return page !== path && paths.includes(page) ? `/docs/${page}${anchor === undefined ? '' : `#${anchor}`}` : null;
}
