import type { VisitorLanguage } from '#languages/language.ts';
import type { Languages } from '#languages/languages.ts';
import type { Page } from '#service/ports.ts';
import { brandOf, headOf } from './brand.ts';
import type { PageSet } from './site.ts';
import { statusContent, statusTitle, type StatusValue } from './status.ts';
import { cached } from './status-files.ts';
import type { StatusPlace } from './status-place.ts';
import type { ConfiguredPages } from './status-value.ts';
import { languageChooser, languageVary } from './visitor-language.ts';

export const cachedInLanguage = { ...cached, ...languageVary };

export interface PageDrawing {
  readonly site: PageSet;
  readonly pages: () => ConfiguredPages;
  readonly languages: Languages;
}

/** A status page as a visitor asks for it. */
export interface PageView {
  readonly name: string;
  readonly language: VisitorLanguage;
  readonly place: StatusPlace;
  /** The version of the stream that the value has at least. */
  readonly since: number;
}

/** Draws status pages: once in each language for all who load one while it shows the same. */
export function createPageDrawing({ site, pages, languages }: PageDrawing) {
  const drawn = new WeakMap<StatusValue, Map<string, Page>>();

  const draw = (value: StatusValue, { name, language, place, since }: PageView): Page =>
    site.page(
      {
        title: statusTitle(value, language),
        place: 'status',
        content: statusContent(value, language, place),
        refresh: 60,
        live: `${place.live}?lang=${language.code}`,
        since,
        head: headOf(value, language, place),
        language,
        foot: languageChooser(languages, language),
        ...brandOf(name, pages(), place.home),
      },
      cachedInLanguage,
    );

  return (value: StatusValue, view: PageView): Page => {
    const known = drawn.get(value) ?? new Map<string, Page>();
    drawn.set(value, known);
    const key = `${view.language.code} ${view.place.home} ${view.place.url}`;
    const page = known.get(key) ?? draw(value, view);
    // Every Host header is another address.
    if (known.size < mostDrawn) known.set(key, page);
    return page;
  };
}

const mostDrawn = 100;
