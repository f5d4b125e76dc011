import { html, type SafeHtml } from '@remix-run/html-template';

export { html };

/** A piece of a page. Whatever is put into it as text is escaped. */
export type Markup = SafeHtml;

export const nothing: Markup = html``;

/** Words that somebody else wrote, such as a host or a reason: their direction stays among themselves. */
export const foreign = (text: string): Markup => html`<bdi>${text}</bdi>`;

/** A moment: in UTC, and in the viewer's own zone where scripts run. */
export function moment(at: number, form: 'time' | 'day' = 'time'): Markup {
  const iso = new Date(at).toISOString();
  const shown = form === 'day' ? iso.slice(0, 10) : `${iso.slice(0, 19).replace('T', ' ')} UTC`;
  return html`<time datetime="${iso}" data-form="${form}">${shown}</time>`;
}

/** A moment of the last days: its time if it is of today, else its day. */
export function shortMoment(at: number, now: number): Markup {
  const [iso, today] = [at, now].map((one) => new Date(one).toISOString());
  const shown = iso?.slice(0, 10) === today?.slice(0, 10) ? `${iso?.slice(11, 16)} UTC` : iso?.slice(0, 10);
  return html`<time datetime="${iso}" data-form="short">${shown}</time>`;
}

export type StateName = 'up' | 'partial' | 'down' | 'unknown' | 'maintenance' | 'waiting';

/** A state with its shape and its word. */
export const state = (name: StateName, word: string): Markup => html`<span class="state ${name}">${word}</span>`;

/** The shape of an incident that goes on: nobody knows whether what is unknown is down. */
export const shapeOf = (word: string): StateName => (word === 'UNKNOWN' ? 'unknown' : 'down');
