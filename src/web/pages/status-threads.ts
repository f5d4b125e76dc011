import type { TextKey, VisitorLanguage } from '#languages/language.ts';
import type { StatusNote } from '../state/notes.ts';
import { foreign, html, type Markup, nothing, state } from './markup.ts';
import type { PastOutage } from './status-past.ts';
import { momentIn, phrase } from './visitor.ts';

/** A target with its name on the page. */
interface NamedService {
  readonly target: string;
  readonly name: string;
}

/** What is over on a status page, or happened in a month. */
export interface StatusPast {
  readonly outages: readonly PastOutage[];
  /** The newest first. */
  readonly notes: readonly StatusNote[];
  readonly services: readonly NamedService[];
}

/** Notes by their threads, the one with the newest note first; in each the newest note first. */
export function threadsOf(notes: readonly StatusNote[]): readonly (readonly StatusNote[])[] {
  return [...Map.groupBy(notes, ({ id, thread }) => thread ?? id).values()];
}

/** The notes of threads of which none stands now. */
export function pastThreads(notes: readonly StatusNote[], current: readonly StatusNote[]): readonly StatusNote[] {
  const standing = new Set(current.map(({ id, thread }) => thread ?? id));
  return notes.filter(({ id, thread }) => !standing.has(thread ?? id));
}

/** A thread with the services that it is about. */
export function threadPart(
  thread: readonly StatusNote[],
  services: readonly NamedService[],
  language: VisitorLanguage,
): Markup {
  const about = services.filter(({ target }) => thread.some(({ targets }) => targets.includes(target)));
  const names =
    about.length === 0 ? nothing : html`<p class="soft wrap">${language.list(about.map(({ name }) => name))}</p>`;
  return html`<div class="paper note">${names}${thread.map((note) => notePart(note, language))}</div>`;
}

function notePart({ words, createdAt, endsAt, stage }: StatusNote, language: VisitorLanguage): Markup {
  const from = momentIn(language, createdAt);
  const when = endsAt === null ? from : phrase(language, 'noteUntil', { from, to: momentIn(language, endsAt) });
  const shown = stage === null ? nothing : html`<strong>${language.say(stage)}</strong> `;
  return html`<p class="wrap">${shown}${foreign(words)}</p><p class="small soft">${when}</p>`;
}

/** Past incidents with their beginnings in this form, and threads among them, the newest first; or the text `none`. */
export function pastList(
  { outages, notes, services }: StatusPast,
  language: VisitorLanguage,
  none: TextKey,
  form: 'time' | 'ago' = 'time',
): Markup {
  const threads = threadsOf(notes).map((thread) => ({
    at: Math.min(...thread.map(({ createdAt }) => createdAt)),
    item: html`<li>${threadPart(thread, services, language)}</li>`,
  }));
  const items = outages.map(({ service, from, to }) => {
    const words =
      to === null
        ? language.say('isDown', { service })
        : language.say('wasDown', { service, duration: language.duration(Math.max(0, to - from)) });
    const shown = to === null ? state('down', words) : words;
    return { at: from, item: html`<li>${momentIn(language, from, form)} ${shown}</li>` };
  });
  const all = [...items, ...threads].toSorted((a, b) => b.at - a.at);
  if (all.length === 0) return html`<p class="soft">${language.say(none)}</p>`;
  return html`<ol class="times">${all.map(({ item }) => item)}</ol>`;
}
