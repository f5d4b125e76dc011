import { Marked, type Tokens } from 'marked';
import { docsTexts as words } from './docs-texts.ts';
import { html, type Markup, nothing } from './markup.ts';

/** A text in Markdown as a page shows it. */
export interface MarkdownPage {
  readonly title: string;
  /** The first paragraph as text. */
  readonly lead: string;
  readonly content: Markup;
  /** What links can lead to in it: headings, and rows that begin with a name (`failure-codes-refused`). */
  readonly anchors: ReadonlySet<string>;
}

/** `hrefOf` gives where a link leads; null for one that is shown as plain text. */
export function renderMarkdown(text: string, hrefOf: (href: string) => string | null): MarkdownPage {
  const anchors = new Set<string>();
  const sections: { readonly anchor: string; readonly title: string }[] = [];
  let [title, lead, section] = ['', '', ''];
  let [tables, codes] = [0, 0];

  /** As GitHub makes them: further headings of the same words are numbered. */
  function anchorOf(heading: string): string {
    const slug = slugOf(heading);
    let anchor = slug;
    for (let number = 1; anchors.has(anchor); number += 1) anchor = `${slug}-${number}`;
    anchors.add(anchor);
    return anchor;
  }

  const headings = new Marked().lexer(text).flatMap((token) => (token.type === 'heading' ? [slugOf(token.text)] : []));
  const reserved = new Set(headings);
  const marked = new Marked({
    gfm: true,
    renderer: {
      // Comments for programs; the pages have no other.
      html: () => '',
      heading({ tokens, text: heading, depth }) {
        const shown = this.parser.parseInline(tokens);
        const anchor = anchorOf(heading);
        section = anchor;
        if (depth === 1 && title === '') title = plain(heading);
        if (depth === 2) sections.push({ anchor, title: plain(heading) });
        return `<h${depth} id="${anchor}">${shown}</h${depth}>\n`;
      },
      paragraph({ tokens, text: written }) {
        if (lead === '' && !written.startsWith('![')) lead = plain(written).replace(/\n[\s\S]*$/, '');
        return `<p>${this.parser.parseInline(tokens)}</p>\n`;
      },
      code({ text: code }) {
        codes += 1;
        return `<pre class="paper" tabindex="0" role="region" aria-label="${words.code(codes)}"><code>${escaped(code)}</code></pre>\n`;
      },
      link({ href, tokens }) {
        const shown = this.parser.parseInline(tokens);
        const to = hrefOf(href);
        if (to === null) return shown;
        return `<a href="${escaped(to)}"${to.startsWith('http') ? ' rel="noopener"' : ''}>${shown}</a>`;
      },
      image({ href, text: alternative }) {
        const to = hrefOf(href);
        return to === null ? '' : `<img src="${escaped(to)}" alt="${escaped(alternative)}" loading="lazy">`;
      },
      table({ header, rows }: Tokens.Table) {
        tables += 1;
        const inline = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
        const heads = header.map((cell) => (cell.text === '' ? '<td></td>' : `<th scope="col">${inline(cell)}</th>`));
        const body = rows.map((cells) => {
          const [, word] = /^`([\w.-]+)/.exec(cells[0]?.text ?? '') ?? [];
          const name = word === undefined ? undefined : `${section}-${word}`;
          // Headings come first, also those further down.
          const isNew = name !== undefined && !anchors.has(name) && !reserved.has(name);
          if (isNew) anchors.add(name);
          return `<tr${isNew ? ` id="${name}"` : ''}>${cells.map((cell) => `<td>${inline(cell)}</td>`).join('')}</tr>`;
        });
        return `<div class="scroll" tabindex="0" role="region" aria-label="${words.table(tables)}"><table><thead><tr>${heads.join('')}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>\n`;
      },
    },
  });
  const body = marked.parse(text, { async: false });
  const contents = sections.map(({ anchor, title: name }) => html`<li><a href="#${anchor}">${name}</a></li>`);
  const nav =
    sections.length < 4
      ? nothing
      : html`<details class="small"><summary>${words.contents}</summary><ul>${contents}</ul></details>`;
  // The title comes first, then what is on the page.
  const end = body.indexOf('</h1>') + '</h1>'.length;
  const content = html`<article class="docs">${html.raw`${body.slice(0, end)}`}${nav}${html.raw`${body.slice(end)}`}</article>`;
  return { title, lead, content, anchors };
}

const slugOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');

const plain = (written: string) => written.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');

const signs: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => signs[sign] ?? sign);
