import { html, type SafeHtml } from '@remix-run/html-template';

export { html };

/** A piece of a page. Whatever is put into it as text is escaped. */
export type Markup = SafeHtml;

export const nothing: Markup = html``;

/** Foreign text, such as a host or a reason: its writing direction does not affect the text around it. */
export const foreign = (text: string): Markup => html`<bdi>${text}</bdi>`;

/**
 * Text of others for one line, cut in its middle where it has no room: names and hosts often differ at their ends. `kept` characters of
 * the end always stay.
 */
export function cutInMiddle(text: string, kept = 9): Markup {
  const characters = Array.from(text);
  if (characters.length <= kept + 3) return foreign(text);
  const [start, end] = [characters.slice(0, -kept).join(''), characters.slice(-kept).join('')];
  return html`<bdi class="cut"><span>${start}</span><span>${end}</span></bdi>`;
}

/** A moment: in UTC, and in the viewer's own zone where scripts run. */
export function moment(at: number, form: 'time' | 'day' | 'ago' = 'time'): Markup {
  const iso = new Date(at).toISOString();
  const shown = form === 'day' ? iso.slice(0, 10) : `${iso.slice(0, 19).replace('T', ' ')} UTC`;
  return html`<time datetime="${iso}" data-form="${form}">${shown}</time>`;
}

/** A moment to the minute; scripts omit the day if it is today. */
export function shortMoment(at: number): Markup {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" data-form="short">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** A moment whose age matters: scripts show how long ago it was, with the exact time on hover and on paper. */
export const recentMoment = (at: number): Markup => moment(at, 'ago');

export type StateName = 'up' | 'partial' | 'down' | 'unknown' | 'maintenance' | 'waiting' | 'warning';

/** A state with its shape and its word. */
export const state = (name: StateName, word: string): Markup => html`<span class="state ${name}">${word}</span>`;

/** The shape of an open incident by its word: only DOWN looks like down. */
export const shapeOf = (word: string): StateName =>
  word === 'DOWN' ? 'down' : word === 'UNKNOWN' ? 'unknown' : 'warning';
