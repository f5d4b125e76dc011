// Times as viewers read them: in their own zone, and where recency matters as an age.

import { ageIn, ageOf } from './age.ts';

/** The language of the page's visitor, if the page is in one: else times are as experts write them (ISO 8601). */
const { locale } = document.body.dataset;

const forms =
  locale === undefined
    ? {
        time: new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' }),
        clock: new Intl.DateTimeFormat('sv-SE', { hour: '2-digit', minute: '2-digit' }),
        day: new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short' }),
      }
    : {
        time: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }),
        clock: new Intl.DateTimeFormat(locale, { timeStyle: 'short' }),
        day: new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }),
      };
const dayOnly = new Intl.DateTimeFormat(locale ?? 'sv-SE', {
  dateStyle: locale === undefined ? 'short' : 'medium',
  timeZone: 'UTC',
});
const offset = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' });
const zone = offset.resolvedOptions().timeZone;

/** A day such as `2026-11-23` as the page writes days. */
export const dayWords = (day: string): string => dayOnly.format(Date.parse(day));

/** A moment: the time, with its day unless that is today. */
function shortTime(at: number | Date, now: number | Date): string {
  const isToday = forms.day.format(at) === forms.day.format(now);
  return isToday ? forms.clock.format(at) : `${forms.day.format(at)} ${forms.clock.format(at)}`;
}

/** Writes the times below an element in the viewer's own zone. */
export function localise(root: ParentNode): void {
  const now = new Date();
  for (const element of root.querySelectorAll('time[datetime]')) {
    const at = new Date(element.getAttribute('datetime') ?? '');
    if (Number.isNaN(at.getTime())) continue;
    const form = element.getAttribute('data-form');
    element.setAttribute('title', form === 'ago' ? `${forms.time.format(at)} (${offsetAt(at)})` : at.toISOString());
    const text = textOf(at, form, now);
    // What was selected stays so.
    if (element.textContent !== text) element.textContent = text;
  }
}

/** Writes the times of the page anew each minute, and when a tab is looked at again. */
export function renewMoments(): void {
  setInterval(() => localise(document), 60_000);
  document.addEventListener('visibilitychange', () => localise(document));
}

/** The viewer's zone with its offset, such as `Europe/Berlin (UTC+1)`. */
export function zoneWords(): string {
  const now = offsetAt(new Date());
  return zone === now ? zone : `${zone} (${now})`;
}

function offsetAt(at: Date): string {
  const name = offset.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
  return name.replace('GMT', 'UTC');
}

function textOf(at: Date, form: string | null, now: Date): string {
  if (form === 'ago') {
    const ms = now.getTime() - at.getTime();
    return (locale === undefined ? ageOf(ms) : ageIn(locale, ms)) ?? forms.time.format(at);
  }
  if (form !== 'short') return forms[form === 'day' ? 'day' : 'time'].format(at);
  return shortTime(at, now);
}
